// SPDX-License-Identifier: Apache-2.0
#include "wire/npy.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

struct Header {
  DType dtype = DType::kInvalid;
  bool big_endian = false;
  bool fortran_order = false;
  char text_kind = 0;     // 'S' or 'U' of text
  size_t text_width = 0;  // bytes of an element
  Shape shape;
  uint64_t data_offset = 0;
};

struct NpyType {
  char kind;
  size_t size;
  DType dtype;
};
constexpr NpyType kTypes[] = {
    {'b', 1, DType::kBool},      {'i', 1, DType::kInt8},       {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},      {'u', 1, DType::kUInt8},
    {'u', 2, DType::kUInt16},    {'u', 4, DType::kUInt32},     {'u', 8, DType::kUInt64},
    {'f', 2, DType::kHalf},      {'f', 4, DType::kFloat},      {'f', 8, DType::kDouble},
    {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128}};

const NpyType* TypeOf(DType dtype) {
  const auto* it = std::ranges::find(kTypes, NpyStorage(dtype), &NpyType::dtype);
  return it == std::end(kTypes) ? nullptr : it;
}

// Reads the header's text, a Python dictionary with three keys in any order:
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  Status Read(Header* header) {
    if (!Take('{')) return Wrong();
    while (!Take('}')) {
      std::string_view key;
      if (!Text(&key) || !Take(':')) return Wrong();
      if (key == "descr") {
        std::string_view descr;
        if (!Text(&descr)) return Wrong();
        RETURN_IF_ERROR(ReadDescr(descr, header));
      } else if (key == "fortran_order") {
        if (!Boolean(&header->fortran_order)) return Wrong();
      } else if (key == "shape") {
        if (!Dims()) return Wrong();
        ASSIGN_OR_RETURN(header->shape, Shape::FromDims(dims_));
        has_shape_ = true;
      } else {
        return Wrong();
      }
      Take(',');
    }
    return header->dtype == DType::kInvalid || !has_shape_ ? Wrong() : OkStatus();
  }

 private:
  static Status Wrong() {
    return InvalidArgumentError("A .npy file has a header that cannot be read");
  }

  static Status ReadDescr(std::string_view descr, Header* header) {
    const auto size = descr.size() < 3 ? std::nullopt : ParseInt64(descr.substr(2));
    if (size && (descr[1] == 'S' || descr[1] == 'U') && *size > 0 && *size < (1 << 28)) {
      header->dtype = DType::kString;
      header->text_kind = descr[1];
      header->text_width = static_cast<size_t>(*size) * (descr[1] == 'U' ? 4 : 1);
    }
    if (size) {
      for (const NpyType& type : kTypes) {
        if (type.kind == descr[1] && static_cast<int64_t>(type.size) == *size) {
          header->dtype = type.dtype;
        }
      }
    }
    if (header->dtype == DType::kInvalid || std::string_view("<>|=").find(descr[0]) > 3) {
      return InvalidArgumentError(StrCat("A .npy file holds elements of type ", Quoted(descr),
                                         "; only booleans, integers, floats, complex numbers and "
                                         "text can be read, no objects"));
    }
    header->big_endian = descr[0] == '>';
    return OkStatus();
  }

  void SkipBlanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t')) {
      text_.remove_prefix(1);
    }
  }
  bool Take(char c) {
    SkipBlanks();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool Text(std::string_view* out) {
    SkipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return false;
    *out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool Boolean(bool* out) {
    SkipBlanks();
    *out = text_.starts_with("True");
    if (!*out && !text_.starts_with("False")) return false;
    text_.remove_prefix(*out ? 4 : 5);
    return true;
  }
  bool Dims() {
    dims_.clear();
    if (!Take('(')) return false;
    while (!Take(')')) {
      SkipBlanks();
      const size_t end = text_.find_first_not_of("0123456789");
      const auto size = ParseInt64(text_.substr(0, end));
      if (!size || dims_.size() > static_cast<size_t>(Shape::kMaxRank)) return false;
      dims_.push_back(*size);
      text_.remove_prefix(std::min(end, text_.size()));
      Take('L');  // as Python 2 wrote it
      Take(',');
    }
    return true;
  }

  std::string_view text_;
  std::vector<int64_t> dims_;
  bool has_shape_ = false;
};

Status NotNpy() { return InvalidArgumentError("Not a .npy file (it does not begin as one)"); }

// Bytes before the header's text and its length, from the first 12 bytes of the file.
Status HeaderExtent(std::string_view start, uint64_t* text_offset, uint64_t* text_size) {
  if (!start.starts_with(kMagic) || start.size() < 10) return NotNpy();
  const auto major = static_cast<uint8_t>(start[6]);
  if (major < 1 || major > 3) {
    return InvalidArgumentError(
        StrCat("A .npy file of version ", static_cast<int>(major), "; versions 1 to 3 are known"));
  }
  *text_offset = major == 1 ? 10 : 12;
  if (start.size() < *text_offset) return NotNpy();
  *text_size = major == 1 ? LoadFixed32(start.data() + 6) >> 16 : LoadFixed32(start.data() + 8);
  if (*text_size > kMaxHeaderBytes) {
    return InvalidArgumentError(StrCat("A .npy file has a header of ", *text_size, " bytes"));
  }
  return OkStatus();
}

Status CheckSize(const Header& header, uint64_t bytes) {
  const auto n = static_cast<uint64_t>(header.shape.num_elements());
  const size_t size = header.text_kind != 0 ? header.text_width : DTypeSize(header.dtype);
  if (bytes % size == 0 && bytes / size == n) return OkStatus();
  return InvalidArgumentError(StrCat("A .npy file of type ", DTypeName(header.dtype), " and shape ",
                                     header.shape.ToString(), " has ", bytes, " bytes of data"));
}

void SwapBytes(char* data, size_t bytes, size_t part) {
  for (size_t i = 0; i < bytes; i += part) std::reverse(data + i, data + i + part);
}

// From the first dimension running fastest to the last one running fastest.
StatusOr<Tensor> FromFortranOrder(const Tensor& t, Allocator* allocator) {
  ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(t.dtype(), t.shape(), allocator));
  const size_t size = DTypeSize(t.dtype());
  const auto rank = static_cast<size_t>(t.rank());
  std::vector<int64_t> place(rank, 0);
  std::vector<int64_t> stride(rank, 1);
  for (size_t i = 1; i < rank; ++i) stride[i] = stride[i - 1] * t.dim(static_cast<int>(i) - 1);
  const auto* from = static_cast<const char*>(t.raw_data());
  auto* to = static_cast<char*>(result.raw_data());
  int64_t source = 0;
  for (int64_t n = t.num_elements(); n > 0; --n, to += size) {
    std::memcpy(to, from + static_cast<size_t>(source) * size, size);
    for (size_t i = rank; i-- > 0;) {
      source += stride[i];
      if (++place[i] < t.dim(static_cast<int>(i))) break;
      source -= stride[i] * place[i];
      place[i] = 0;
    }
  }
  return result;
}

// One element of characters; false for what is no character.
bool AppendCharacters(std::string_view element, bool big_endian, std::string* out) {
  for (; !element.empty(); element.remove_prefix(4)) {
    uint32_t code = LoadFixed32(element.data());
    if (big_endian) code = __builtin_bswap32(code);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    const auto put = [&](uint32_t lead, uint32_t shift) {
      out->push_back(static_cast<char>(lead | (code >> shift)));
      for (; shift > 0; shift -= 6) {
        out->push_back(static_cast<char>(0x80 | ((code >> (shift - 6)) & 0x3f)));
      }
    };
    code < 0x80      ? put(0, 0)
    : code < 0x800   ? put(0xc0, 6)
    : code < 0x10000 ? put(0xe0, 12)
                     : put(0xf0, 18);
  }
  return true;
}

StatusOr<Tensor> TextTensor(const Header& header, std::string_view data, Allocator* allocator) {
  if (header.fortran_order && header.shape.rank() > 1) {
    return UnimplementedError("A .npy file of text in Fortran order; save numpy.ascontiguousarray");
  }
  ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kString, header.shape, allocator));
  for (std::string& text : t.flat<std::string>()) {
    const std::string_view element = data.substr(0, header.text_width);
    data.remove_prefix(header.text_width);
    if (header.text_kind == 'S') {
      text = element;
    } else if (!AppendCharacters(element, header.big_endian, &text)) {
      return InvalidArgumentError("A .npy file of text holds a number that is no character");
    }
    text.resize(text.find_last_not_of('\0') + 1);
  }
  return t;
}

// `t` holds the file's bytes as they are.
StatusOr<Tensor> Normalised(const Header& header, Tensor t, Allocator* allocator) {
  auto* data = static_cast<char*>(t.raw_data());
  const size_t size = DTypeSize(header.dtype);
  if (header.big_endian) SwapBytes(data, t.byte_size(), IsComplex(header.dtype) ? size / 2 : size);
  if (header.dtype == DType::kBool) {
    for (size_t i = 0; i < t.byte_size(); ++i) data[i] = data[i] != 0;
  }
  return header.fortran_order && t.rank() > 1 ? FromFortranOrder(t, allocator) : std::move(t);
}

}  // namespace

StatusOr<Tensor> DecodeNpy(std::string_view bytes, const NpyOptions& options) {
  uint64_t offset = 0;
  uint64_t size = 0;
  RETURN_IF_ERROR(HeaderExtent(bytes, &offset, &size));
  if (size > bytes.size() - offset) return NotNpy();
  Header header;
  RETURN_IF_ERROR(HeaderText(bytes.substr(offset, size)).Read(&header));
  const std::string_view data = bytes.substr(offset + size);
  RETURN_IF_ERROR(CheckSize(header, data.size()));
  if (header.text_kind != 0) return TextTensor(header, data, options.allocator);
  ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(header.dtype, header.shape, options.allocator));
  if (!data.empty()) std::memcpy(t.raw_data(), data.data(), data.size());
  return Normalised(header, std::move(t), options.allocator);
}

namespace {

StatusOr<Tensor> ReadOpenNpy(const RandomAccessFile& file, const NpyOptions& options) {
  if (file.size() > options.max_bytes) {
    return ResourceExhaustedError(
        StrCat("has ", file.size(), " bytes; the limit is ", options.max_bytes));
  }
  std::string start(std::min<uint64_t>(12, file.size()), '\0');
  RETURN_IF_ERROR(file.Read(0, start.size(), start.data()));
  uint64_t offset = 0;
  uint64_t size = 0;
  RETURN_IF_ERROR(HeaderExtent(start, &offset, &size));
  if (size > file.size() - offset) return NotNpy();
  std::string text(size, '\0');
  RETURN_IF_ERROR(file.Read(offset, size, text.data()));
  Header header;
  RETURN_IF_ERROR(HeaderText(text).Read(&header));
  RETURN_IF_ERROR(CheckSize(header, file.size() - offset - size));
  if (header.text_kind != 0) {
    std::string data(file.size() - offset - size, '\0');
    RETURN_IF_ERROR(file.Read(offset + size, data.size(), data.data()));
    return TextTensor(header, data, options.allocator);
  }
  ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(header.dtype, header.shape, options.allocator));
  if (t.byte_size() > 0) RETURN_IF_ERROR(file.Read(offset + size, t.byte_size(), t.raw_data()));
  return Normalised(header, std::move(t), options.allocator);
}

}  // namespace

StatusOr<Tensor> ReadNpy(Env* env, const std::string& path, const NpyOptions& options) {
  ASSIGN_OR_RETURN(const auto file, env->OpenForReading(path));
  StatusOr<Tensor> tensor = ReadOpenNpy(*file, options);
  if (!tensor.ok()) return tensor.status().WithContext(path);
  return tensor;
}

DType NpyStorage(DType dtype) {
  switch (dtype) {
    case DType::kQInt8:
      return DType::kInt8;
    case DType::kQUInt8:
      return DType::kUInt8;
    case DType::kQInt16:
      return DType::kInt16;
    case DType::kQUInt16:
      return DType::kUInt16;
    case DType::kQInt32:
      return DType::kInt32;
    default:
      return dtype;
  }
}

bool NpyHolds(DType dtype) { return TypeOf(dtype) != nullptr; }

namespace {

// Magic, version and the padded text, before the data.
StatusOr<std::string> EncodeHeader(std::string_view descr, const Shape& shape) {
  std::string text = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                            StrJoin(shape.dims(), ", "), shape.rank() == 1 ? ",), }" : "), }");
  const size_t unpadded = kMagic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text.push_back('\n');
  if (text.size() > 0xffff) {
    return UnimplementedError("A shape too long for the header of a .npy file");
  }
  std::string out(kMagic);
  out.append("\x01\x00", 2);
  out.push_back(static_cast<char>(text.size() & 0xff));
  out.push_back(static_cast<char>(text.size() >> 8));
  out.append(text);
  return out;
}

StatusOr<std::string> EncodeText(const Tensor& tensor) {
  size_t width = 1;
  for (const std::string& text : tensor.flat<std::string>()) {
    if (text.ends_with('\0')) {
      return UnimplementedError("A .npy file cannot hold a string that ends with a zero byte");
    }
    width = std::max(width, text.size());
  }
  const auto n = static_cast<uint64_t>(tensor.num_elements());
  if (n > 0 && width > (uint64_t{1} << 34) / n) {
    return ResourceExhaustedError(StrCat("A .npy file fills all ", n, " strings up to ", width,
                                         " bytes, over 16 GiB in all"));
  }
  ASSIGN_OR_RETURN(std::string out, EncodeHeader(StrCat("|S", width), tensor.shape()));
  for (const std::string& text : tensor.flat<std::string>()) {
    out.append(text);
    out.append(width - text.size(), '\0');
  }
  return out;
}

}  // namespace

StatusOr<std::string> EncodeNpy(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) return EncodeText(tensor);
  const NpyType* type = TypeOf(tensor.dtype());
  if (type == nullptr) {
    return UnimplementedError(
        StrCat("A .npy file cannot hold elements of type ", DTypeName(tensor.dtype())));
  }
  const std::string descr = StrCat(type->size == 1 ? '|' : '<', type->kind, type->size);
  ASSIGN_OR_RETURN(std::string out, EncodeHeader(descr, tensor.shape()));
  out.append(static_cast<const char*>(tensor.raw_data()), tensor.byte_size());
  return out;
}

Status WriteNpy(Env* env, const std::string& path, const Tensor& tensor) {
  ASSIGN_OR_RETURN(const std::string bytes, EncodeNpy(tensor));
  return WriteFile(env, path, bytes);
}

}  // namespace slipway
