// SPDX-License-Identifier: Apache-2.0
#include "kernels/lookup_table.h"

#include <cstring>
#include <mutex>

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway::kernels {
namespace {

bool IsTableType(DType dtype) { return dtype != DType::kInvalid && DTypeSize(dtype) > 0; }

// Element i for a message.
std::string ElementText(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kString) return tensor.flat<std::string>()[static_cast<size_t>(i)];
  const std::string text =
      tensor.Reshaped(Shape({tensor.num_elements()})).Slice(i, i + 1).ToString();
  const size_t begin = text.rfind('[') + 1;
  return text.substr(begin, text.rfind(']') - begin);
}

template <typename Map, typename Key>
int64_t RowOf(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? -1 : it->second;
}

}  // namespace

TableKeys::TableKeys(DType dtype, int64_t width)
    : dtype_(dtype),
      width_(width),
      key_bytes_(dtype == DType::kString ? 0 : DTypeSize(dtype) * static_cast<size_t>(width)),
      text_(dtype == DType::kString || key_bytes_ > sizeof(int64_t)) {}

int64_t TableKeys::Integer(const Tensor& keys, int64_t i) const {
  int64_t key = 0;
  const char* from =
      static_cast<const char*>(keys.raw_data()) + static_cast<size_t>(i) * key_bytes_;
  std::memcpy(&key, from, key_bytes_);
  // The two zeros of floating point are one key.
  if (dtype_ == DType::kFloat && width_ == 1 && key == 0x80000000) return 0;
  if (dtype_ == DType::kDouble && width_ == 1 && key == INT64_MIN) return 0;
  return key;
}

const std::string& TableKeys::Text(const Tensor& keys, int64_t i, std::string* scratch) const {
  if (dtype_ != DType::kString) {
    scratch->assign(static_cast<const char*>(keys.raw_data()) + static_cast<size_t>(i) * key_bytes_,
                    key_bytes_);
    return *scratch;
  }
  const auto texts = keys.flat<std::string>();
  if (width_ == 1) return texts[static_cast<size_t>(i)];
  scratch->clear();
  for (int64_t k = i * width_; k < (i + 1) * width_; ++k) {
    AppendVarint(scratch, texts[static_cast<size_t>(k)].size());
    *scratch += texts[static_cast<size_t>(k)];
  }
  return *scratch;
}

void TableKeys::WriteInteger(int64_t key, Tensor* keys, int64_t i) const {
  std::memcpy(static_cast<char*>(keys->raw_data()) + static_cast<size_t>(i) * key_bytes_, &key,
              key_bytes_);
}

void TableKeys::WriteText(const std::string& key, Tensor* keys, int64_t i) const {
  if (dtype_ != DType::kString) {
    std::memcpy(static_cast<char*>(keys->raw_data()) + static_cast<size_t>(i) * key_bytes_,
                key.data(), key_bytes_);
  } else if (width_ == 1) {
    keys->flat<std::string>()[static_cast<size_t>(i)] = key;
  } else {
    std::string_view rest = key;
    for (int64_t k = i * width_; k < (i + 1) * width_; ++k) {
      uint64_t size = 0;
      if (!ConsumeVarint(&rest, &size)) return;
      keys->flat<std::string>()[static_cast<size_t>(k)] = rest.substr(0, size);
      rest.remove_prefix(size);
    }
  }
}

LookupTable::LookupTable(std::string name, TableOptions options)
    : name_(std::move(name)),
      options_(std::move(options)),
      keys_(options_.key_dtype, options_.key_shape.num_elements()),
      value_width_(options_.value_shape.num_elements()),
      value_bytes_(static_cast<size_t>(value_width_) * DTypeSize(options_.value_dtype)) {
  initialized_ = options_.kind != TableKind::kStatic;
}

StatusOr<std::shared_ptr<LookupTable>> LookupTable::Create(std::string name, TableOptions options) {
  const bool objects = (IsObject(options.key_dtype) && options.key_dtype != DType::kString) ||
                       (IsObject(options.value_dtype) && options.value_dtype != DType::kString);
  if (objects || !IsTableType(options.key_dtype) || !IsTableType(options.value_dtype)) {
    return InvalidArgumentError(StrCat("Table ", name, " from ", DTypeName(options.key_dtype),
                                       " to ", DTypeName(options.value_dtype),
                                       ": there are no such tables"));
  }
  return std::shared_ptr<LookupTable>(new LookupTable(std::move(name), std::move(options)));
}

Status LookupTable::CheckDtypes(DType keys, DType values) const {
  if (keys == options_.key_dtype && values == options_.value_dtype) return OkStatus();
  return InvalidArgumentError(StrCat(
      "Signature mismatch for table ", name_, ", have: ", DTypeName(keys), "->", DTypeName(values),
      " expected: ", DTypeName(options_.key_dtype), "->", DTypeName(options_.value_dtype)));
}

int64_t LookupTable::CountKeys(const Tensor& keys) const {
  const int64_t width = options_.key_shape.num_elements();
  return width == 0 ? 0 : keys.num_elements() / width;
}

Status LookupTable::Reserve(const Tensor& empty_key, const Tensor& deleted_key) {
  if (!(empty_key.shape() == deleted_key.shape())) {
    return InvalidArgumentError(StrCat(
        "Empty and deleted keys must have same shape, got shapes: ", empty_key.shape().ToString(),
        " and ", deleted_key.shape().ToString()));
  }
  std::string a, b;
  const bool same = keys_.is_text() ? keys_.Text(empty_key, 0, &a) == keys_.Text(deleted_key, 0, &b)
                                    : keys_.Integer(empty_key, 0) == keys_.Integer(deleted_key, 0);
  if (same) return InvalidArgumentError("Empty and deleted keys cannot be equal");
  empty_key_ = empty_key.Clone();
  deleted_key_ = deleted_key.Clone();
  return OkStatus();
}

Status LookupTable::CheckNotReserved(const Tensor& keys) const {
  if (options_.kind != TableKind::kDense) return OkStatus();
  std::string scratch, other;
  for (const auto& [reserved, what] :
       {std::pair(&empty_key_, "empty_key"), std::pair(&deleted_key_, "deleted_key")}) {
    if (!reserved->valid()) continue;
    for (int64_t i = 0; i < CountKeys(keys); ++i) {
      const bool same = keys_.is_text()
                            ? keys_.Text(keys, i, &scratch) == keys_.Text(*reserved, 0, &other)
                            : keys_.Integer(keys, i) == keys_.Integer(*reserved, 0);
      if (same) {
        return InvalidArgumentError(StrCat("Using the ", what, " as a table key is not allowed"));
      }
    }
  }
  return OkStatus();
}

StatusOr<Shape> LookupTable::ValuesShape(const Tensor& keys) const {
  const Shape& own = options_.key_shape;
  const int outer = keys.rank() - own.rank();
  for (int d = 0; d < own.rank(); ++d) {
    if (outer >= 0 && keys.dim(outer + d) == own.dim(d)) continue;
    return InvalidArgumentError(StrCat("Input key shape ", keys.shape().ToString(),
                                       " must end with the table's key shape ", own.ToString()));
  }
  std::vector<int64_t> dims(keys.shape().dims().begin(), keys.shape().dims().begin() + outer);
  for (int64_t dim : options_.value_shape.dims()) dims.push_back(dim);
  return Shape::FromDims(dims);
}

Status LookupTable::CheckPair(const Tensor& keys, const Tensor& values) const {
  RETURN_IF_ERROR(CheckDtypes(keys.dtype(), values.dtype()));
  ASSIGN_OR_RETURN(const Shape wanted, ValuesShape(keys));
  if (values.shape() == wanted) return OkStatus();
  return InvalidArgumentError(
      StrCat("Expected shape ", wanted.ToString(), " for value, got ", values.shape().ToString()));
}

int64_t LookupTable::FindRow(const Tensor& keys, int64_t i, std::string* scratch) const {
  return keys_.is_text() ? RowOf(rows_.by_text, keys_.Text(keys, i, scratch))
                         : RowOf(rows_.by_integer, keys_.Integer(keys, i));
}

void LookupTable::CopyValue(const Rows& rows, int64_t row, Tensor* values, int64_t i) const {
  if (options_.value_dtype == DType::kString) {
    const auto from = rows.texts.begin() + row * value_width_;
    std::copy(from, from + value_width_, values->flat<std::string>().begin() + i * value_width_);
    return;
  }
  std::memcpy(static_cast<char*>(values->raw_data()) + static_cast<size_t>(i) * value_bytes_,
              rows.bytes.data() + static_cast<size_t>(row) * value_bytes_, value_bytes_);
}

bool LookupTable::SameValue(const Rows& rows, int64_t row, const Tensor& values, int64_t i) const {
  if (options_.value_dtype == DType::kString) {
    const auto from = rows.texts.begin() + row * value_width_;
    return std::equal(from, from + value_width_,
                      values.flat<std::string>().begin() + i * value_width_);
  }
  return std::memcmp(
             rows.bytes.data() + static_cast<size_t>(row) * value_bytes_,
             static_cast<const char*>(values.raw_data()) + static_cast<size_t>(i) * value_bytes_,
             value_bytes_) == 0;
}

void LookupTable::Put(const Tensor& keys, int64_t i, const Tensor& values, Rows* rows,
                      std::string* scratch) const {
  const int64_t fresh = rows->free.empty() ? rows->count : rows->free.back();
  const auto [row, is_new] = [&] {
    if (keys_.is_text()) {
      const auto [it, made] = rows->by_text.try_emplace(keys_.Text(keys, i, scratch), fresh);
      return std::pair(it->second, made);
    }
    const auto [it, made] = rows->by_integer.try_emplace(keys_.Integer(keys, i), fresh);
    return std::pair(it->second, made);
  }();
  const bool texts = options_.value_dtype == DType::kString;
  if (is_new && !rows->free.empty()) {
    rows->free.pop_back();
  } else if (is_new) {
    ++rows->count;
    if (texts) rows->texts.resize(static_cast<size_t>(rows->count * value_width_));
    if (!texts) rows->bytes.resize(static_cast<size_t>(rows->count) * value_bytes_);
  }
  if (texts) {
    const auto from = values.flat<std::string>().begin() + i * value_width_;
    std::copy(from, from + value_width_, rows->texts.begin() + row * value_width_);
    return;
  }
  std::memcpy(rows->bytes.data() + static_cast<size_t>(row) * value_bytes_,
              static_cast<const char*>(values.raw_data()) + static_cast<size_t>(i) * value_bytes_,
              value_bytes_);
}

Status LookupTable::Find(const Tensor& keys, const Tensor& otherwise, Tensor* values) const {
  RETURN_IF_ERROR(CheckDtypes(keys.dtype(), otherwise.dtype()));
  RETURN_IF_ERROR(CheckNotReserved(keys));
  const bool for_each = otherwise.shape() == values->shape() && values->num_elements() > 0;
  const bool is_static = options_.kind == TableKind::kStatic;
  if (!is_static && !for_each && !(otherwise.shape() == options_.value_shape)) {
    return InvalidArgumentError(StrCat("Expected shape ", options_.value_shape.ToString(), " or ",
                                       values->shape().ToString(), " for default value, got ",
                                       otherwise.shape().ToString()));
  }
  if (otherwise.num_elements() < value_width_) {
    return InvalidArgumentError(
        StrCat("The default value has no element: ", otherwise.shape().ToString()));
  }
  if (!initialized()) return FailedPreconditionError("Table not initialized.");
  // Nothing writes a static table once it is filled.
  std::shared_lock lock(mutex_, std::defer_lock);
  if (!is_static) lock.lock();
  std::string scratch;
  for (int64_t i = 0; i < CountKeys(keys); ++i) {
    const int64_t row = FindRow(keys, i, &scratch);
    if (row >= 0) {
      CopyValue(rows_, row, values, i);
      continue;
    }
    const int64_t from = for_each && !is_static ? i : 0;
    if (options_.value_dtype == DType::kString) {
      const auto first = otherwise.flat<std::string>().begin() + from * value_width_;
      std::copy(first, first + value_width_,
                values->flat<std::string>().begin() + i * value_width_);
    } else {
      std::memcpy(
          static_cast<char*>(values->raw_data()) + static_cast<size_t>(i) * value_bytes_,
          static_cast<const char*>(otherwise.raw_data()) + static_cast<size_t>(from) * value_bytes_,
          value_bytes_);
    }
  }
  return OkStatus();
}

StatusOr<LookupTable::Rows> LookupTable::MakeUniqueRows(const Tensor& keys,
                                                        const Tensor& values) const {
  Rows rows;
  std::string scratch;
  for (int64_t i = 0; i < CountKeys(keys); ++i) {
    const int64_t row = keys_.is_text() ? RowOf(rows.by_text, keys_.Text(keys, i, &scratch))
                                        : RowOf(rows.by_integer, keys_.Integer(keys, i));
    if (row < 0) {
      Put(keys, i, values, &rows, &scratch);
    } else if (!SameValue(rows, row, values, i)) {
      Tensor had(options_.value_dtype, Shape({1}));
      CopyValue(rows, row, &had, 0);
      return FailedPreconditionError(StrCat("HashTable has different value for same key. Key ",
                                            ElementText(keys, i), " has ", ElementText(had, 0),
                                            " and trying to add value ", ElementText(values, i)));
    }
  }
  return rows;
}

Status LookupTable::Initialize(const Tensor& keys, const Tensor& values) {
  RETURN_IF_ERROR(CheckDtypes(keys.dtype(), values.dtype()));
  if (options_.kind != TableKind::kStatic) {
    return InvalidArgumentError(StrCat("Table ", name_, " is not initializable"));
  }
  if (keys.rank() != 1) {
    return InvalidArgumentError(
        StrCat("Keys must be a vector, but received shape", keys.shape().ToString()));
  }
  if (values.num_elements() != keys.num_elements()) {
    return InvalidArgumentError(StrCat("Keys and values must have the same size ",
                                       keys.num_elements(), " vs ", values.num_elements()));
  }
  std::unique_lock lock(mutex_);
  if (initialized()) {
    const auto entries = static_cast<int64_t>(rows_.by_integer.size() + rows_.by_text.size());
    if (entries == keys.num_elements()) return OkStatus();
    return FailedPreconditionError("Table was already initialized with different data.");
  }
  ASSIGN_OR_RETURN(rows_, MakeUniqueRows(keys, values));
  initialized_.store(true, std::memory_order_release);
  return OkStatus();
}

Status LookupTable::Insert(const Tensor& keys, const Tensor& values) {
  if (options_.kind == TableKind::kStatic) {
    return UnimplementedError("Insert not supported by InitializableLookupTable implementations");
  }
  RETURN_IF_ERROR(CheckPair(keys, values));
  RETURN_IF_ERROR(CheckNotReserved(keys));
  std::string scratch;
  std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < CountKeys(keys); ++i) Put(keys, i, values, &rows_, &scratch);
  return OkStatus();
}

Status LookupTable::Remove(const Tensor& keys) {
  if (options_.kind == TableKind::kStatic) {
    return UnimplementedError("Remove not supported by InitializableLookupTable implementations");
  }
  RETURN_IF_ERROR(CheckDtypes(keys.dtype(), options_.value_dtype));
  RETURN_IF_ERROR(ValuesShape(keys).status());
  RETURN_IF_ERROR(CheckNotReserved(keys));
  std::string scratch;
  std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < CountKeys(keys); ++i) {
    const int64_t row = FindRow(keys, i, &scratch);
    if (row < 0) continue;
    keys_.is_text() ? rows_.by_text.erase(keys_.Text(keys, i, &scratch))
                    : rows_.by_integer.erase(keys_.Integer(keys, i));
    rows_.free.push_back(row);
  }
  return OkStatus();
}

Status LookupTable::Import(const Tensor& keys, const Tensor& values) {
  if (options_.kind == TableKind::kStatic) return Initialize(keys, values);
  RETURN_IF_ERROR(CheckDtypes(keys.dtype(), values.dtype()));
  const int64_t count = CountKeys(keys);
  if (values.num_elements() != count * value_width_ ||
      keys.num_elements() != count * options_.key_shape.num_elements()) {
    return InvalidArgumentError(StrCat("Table ", name_, " cannot take keys ",
                                       keys.shape().ToString(), " with values ",
                                       values.shape().ToString()));
  }
  // What TensorFlow exports of a dense table has the empty key in unused places.
  Rows rows;
  std::string scratch;
  const Tensor listed = keys.Reshaped(Shape({keys.num_elements()}));
  const int64_t width = options_.key_shape.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    if (options_.kind == TableKind::kDense &&
        !CheckNotReserved(listed.Slice(i * width, (i + 1) * width)).ok()) {
      continue;
    }
    Put(keys, i, values, &rows, &scratch);
  }
  std::unique_lock lock(mutex_);
  rows_ = std::move(rows);
  return OkStatus();
}

int64_t LookupTable::size() const {
  std::shared_lock lock(mutex_);
  return static_cast<int64_t>(rows_.by_integer.size() + rows_.by_text.size());
}

Status LookupTable::Export(Tensor* keys, Tensor* values) const {
  if (!initialized()) return AbortedError(StrCat("Table ", name_, " is not initialized."));
  std::shared_lock lock(mutex_);
  const auto count = static_cast<int64_t>(rows_.by_integer.size() + rows_.by_text.size());
  const auto shape_of = [&](const Shape& one) {
    std::vector<int64_t> dims = {count};
    dims.insert(dims.end(), one.dims().begin(), one.dims().end());
    return Shape::FromDims(dims);
  };
  ASSIGN_OR_RETURN(const Shape key_shape, shape_of(options_.key_shape));
  ASSIGN_OR_RETURN(const Shape value_shape, shape_of(options_.value_shape));
  ASSIGN_OR_RETURN(*keys, Tensor::Allocate(options_.key_dtype, key_shape));
  ASSIGN_OR_RETURN(*values, Tensor::Allocate(options_.value_dtype, value_shape));
  int64_t i = 0;
  for (const auto& [key, row] : rows_.by_integer) {
    keys_.WriteInteger(key, keys, i);
    CopyValue(rows_, row, values, i++);
  }
  for (const auto& [key, row] : rows_.by_text) {
    keys_.WriteText(key, keys, i);
    CopyValue(rows_, row, values, i++);
  }
  return OkStatus();
}

}  // namespace slipway::kernels
