// SPDX-License-Identifier: Apache-2.0
//
// Feature crosses: for each row, every combination of one feature of each column, as one string or
// one number.
#include <limits>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/string_hashes.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// A column of features: a sparse matrix, whose rows are runs of its values, or a dense one.
struct Column {
  const Tensor* values = nullptr;
  std::vector<int64_t> begins, counts;  // a row each

  bool is_text() const { return values->dtype() == DType::kString; }
  const std::string& text(int64_t at) const {
    return values->flat<std::string>()[static_cast<size_t>(at)];
  }
  int64_t number(int64_t at) const { return values->flat<int64_t>()[static_cast<size_t>(at)]; }
  std::string AsText(int64_t at) const { return is_text() ? text(at) : StrCat(number(at)); }
};

Status Wrong(std::string_view what, std::string_view wanted, const Tensor& tensor, int position) {
  return InvalidArgumentError(StrCat(what, " should be ", wanted, " but received shape ",
                                     tensor.shape().ToString(), " at position ", position));
}

Status CheckSparseColumn(const Tensor& indices, const Tensor& values, const Tensor& shape, int i) {
  if (indices.rank() != 2 || indices.dim(1) != 2) {
    return Wrong("Input indices", "a matrix", indices, i);
  }
  if (values.rank() != 1) return Wrong("Input values", "a vector", values, i);
  if (values.dim(0) != indices.dim(0)) {
    return InvalidArgumentError(StrCat("Expected size of values to be ", indices.dim(0), " got ",
                                       values.dim(0), " at position ", i));
  }
  if (shape.rank() != 1) return Wrong("Input shapes", "a vector", shape, i);
  if (shape.dim(0) != 2) {
    return InvalidArgumentError(
        StrCat("Expected shape to have 2 elements, got ", shape.dim(0), " at position ", i));
  }
  return OkStatus();
}

// Rows are taken in their order; what is not in order, or in no row, is left out.
Column SparseColumn(const Tensor& indices, const Tensor& values, int64_t batch) {
  Column column;
  column.values = &values;
  const auto index = indices.flat<int64_t>();
  int64_t at = 0;
  for (int64_t row = 0; row < batch; ++row) {
    column.begins.push_back(at);
    while (at < values.dim(0) && index[static_cast<size_t>(at) * 2] == row) ++at;
    column.counts.push_back(at - column.begins.back());
  }
  return column;
}

Column DenseColumn(const Tensor& values, int64_t batch) {
  Column column;
  column.values = &values;
  for (int64_t row = 0; row < batch; ++row) {
    column.begins.push_back(row * values.dim(1));
    column.counts.push_back(values.dim(1));
  }
  return column;
}

// The columns of a node with `sparse` sparse and `dense` dense inputs, which stand first.
StatusOr<std::vector<Column>> ReadColumns(const KernelContext& c, int sparse, int dense,
                                          int64_t* batch) {
  // Each entry of a shape is only a claim, and every row costs memory.
  constexpr int64_t kMaxBatch = int64_t{1} << 31;
  for (int i = 0; i < sparse; ++i) {
    const Tensor& shape = c.input(2 * sparse + i);
    RETURN_IF_ERROR(CheckSparseColumn(c.input(i), c.input(sparse + i), shape, i));
    const int64_t rows = shape.flat<int64_t>()[0];
    if (i == 0) *batch = rows;
    if (rows != *batch || rows < 0 || rows > kMaxBatch) {
      return InvalidArgumentError(
          StrCat("Expected batch size ", *batch, " got ", rows, " at input ", i));
    }
  }
  for (int i = 0; i < dense; ++i) {
    const Tensor& values = c.input(3 * sparse + i);
    if (values.rank() != 2) return Wrong("Dense inputs", "a matrix", values, i);
    if (i == 0 && sparse == 0) *batch = values.dim(0);
    if (values.dim(0) != *batch) {
      return InvalidArgumentError(
          StrCat("Expected batch size ", *batch, " got ", values.dim(0), " at dense tensor ", i));
    }
  }
  std::vector<Column> columns;
  for (int i = 0; i < sparse; ++i) {
    columns.push_back(SparseColumn(c.input(i), c.input(sparse + i), *batch));
  }
  for (int i = 0; i < dense; ++i) columns.push_back(DenseColumn(c.input(3 * sparse + i), *batch));
  return columns;
}

StatusOr<int64_t> CrossesOf(std::span<const Column> columns, int64_t row) {
  int64_t count = columns.empty() ? 0 : 1;
  for (const Column& column : columns) {
    ASSIGN_OR_RETURN(
        count, CheckedMul(count, column.counts[static_cast<size_t>(row)], "number of crosses"));
  }
  return count;
}

// Writes the three outputs: make(places) for each combination of one place in each column, of which
// the last varies fastest.
template <typename T, typename Make>
Status CrossAll(KernelContext& c, std::span<const Column> columns, int64_t batch, Make&& make) {
  int64_t total = 0, widest = 0;
  for (int64_t row = 0; row < batch; ++row) {
    ASSIGN_OR_RETURN(const int64_t count, CrossesOf(columns, row));
    widest = std::max(widest, count);
    if (__builtin_add_overflow(total, count, &total)) {
      return ResourceExhaustedError("The number of crosses does not fit 64 bits");
    }
  }
  ASSIGN_OR_RETURN(const Shape matrix, Shape::FromDims(std::array<int64_t, 2>{total, 2}));
  ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, matrix));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({total})));
  int64_t* index = indices->flat<int64_t>().data();
  T* value = values->flat<T>().data();
  std::vector<int64_t> places(columns.size());
  for (int64_t row = 0; row < batch; ++row) {
    const auto r = static_cast<size_t>(row);
    ASSIGN_OR_RETURN(const int64_t count, CrossesOf(columns, row));
    for (int64_t k = 0; k < count; ++k) {
      int64_t rest = k;
      for (size_t i = columns.size(); i-- > 0; rest /= columns[i].counts[r]) {
        places[i] = columns[i].begins[r] + rest % columns[i].counts[r];
      }
      *index++ = row;
      *index++ = k;
      *value++ = make(places);
    }
  }
  return OutputVector<int64_t>(c, 2, {batch, widest});
}

Status CrossTexts(KernelContext& c, std::span<const Column> columns, int64_t batch,
                  const std::string& separator) {
  return CrossAll<std::string>(c, columns, batch, [&](const std::vector<int64_t>& places) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += separator;
      text += columns[i].AsText(places[i]);
    }
    return text;
  });
}

// Never negative, whatever the number of buckets.
int64_t Bucket(uint64_t hash, int64_t buckets) {
  const uint64_t count = buckets > 0 ? static_cast<uint64_t>(buckets)
                                     : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(hash % count);
}

int CountOf(const ir::Node& node, std::string_view list) {
  return static_cast<int>(AttrOr<std::vector<DType>>(node, list, {}).size());
}

StatusOr<KernelFn> BindCross(const BindContext& c) {
  const int sparse = CountOf(*c.node, "sparse_types"), dense = CountOf(*c.node, "dense_types");
  const bool hashed = BoolAttr(*c.node, "hashed_output");
  const int64_t buckets = IntAttr(*c.node, "num_buckets");
  const auto key = static_cast<uint64_t>(IntAttr(*c.node, "hash_key"));
  const auto internal = AttrOr<DType>(*c.node, "internal_type", DType::kString);
  const auto out_type = AttrOr<DType>(*c.node, "out_type", DType::kString);
  if (hashed != (out_type == DType::kInt64)) {
    return InvalidArgumentError(
        StrCat("hashed_output is ", hashed, ", but out_type is ", DTypeName(out_type)));
  }
  return KernelFn([=](KernelContext& ctx) -> Status {
    int64_t batch = 0;
    ASSIGN_OR_RETURN(const auto columns, ReadColumns(ctx, sparse, dense, &batch));
    if (!hashed) {
      for (const Column& column : columns) {
        if (internal == DType::kString && column.is_text()) continue;
        return InvalidArgumentError(StrCat("Input values should be of internal type ",
                                           static_cast<int>(DType::kString), " but received ",
                                           static_cast<int>(column.values->dtype())));
      }
      return CrossTexts(ctx, columns, batch, "_X_");
    }
    return CrossAll<int64_t>(ctx, columns, batch, [&](const std::vector<int64_t>& places) {
      uint64_t hash = key;
      for (size_t i = 0; i < columns.size(); ++i) {
        const Column& column = columns[i];
        hash = FingerprintCat64(hash, column.is_text()
                                          ? Fingerprint64(column.text(places[i]))
                                          : static_cast<uint64_t>(column.number(places[i])));
      }
      return Bucket(hash, buckets);
    });
  });
}

StatusOr<KernelFn> BindCrossV2(const BindContext& c) {
  const int sparse = CountOf(*c.node, "sparse_types"), dense = CountOf(*c.node, "dense_types");
  return KernelFn([=](KernelContext& ctx) -> Status {
    int64_t batch = 0;
    ASSIGN_OR_RETURN(const auto columns, ReadColumns(ctx, sparse, dense, &batch));
    const Tensor& separator = ctx.input(3 * sparse + dense);
    RETURN_IF_ERROR(CheckScalar(separator, "sep"));
    return CrossTexts(ctx, columns, batch, separator.flat<std::string>()[0]);
  });
}

// Of a number only the lower four bytes count: TensorFlow's values are kept in trained models.
uint64_t KeyedHash(const Column& column, int64_t place, bool strong, const SipKey& key) {
  const int64_t number = column.is_text() ? 0 : column.number(place);
  const std::string_view bytes = column.is_text()
                                     ? std::string_view(column.text(place))
                                     : std::string_view(reinterpret_cast<const char*>(&number), 4);
  return strong ? SipHash(key, bytes) : Fingerprint64(bytes);
}

StatusOr<KernelFn> BindCrossHashed(const BindContext& c) {
  const int sparse = CountOf(*c.node, "sparse_types"), dense = CountOf(*c.node, "dense_types");
  return KernelFn([=](KernelContext& ctx) -> Status {
    int64_t batch = 0;
    ASSIGN_OR_RETURN(const auto columns, ReadColumns(ctx, sparse, dense, &batch));
    const int first = 3 * sparse + dense;
    ASSIGN_OR_RETURN(const int64_t buckets, ReadInt(ctx.input(first), "num_buckets"));
    RETURN_IF_ERROR(CheckScalar(ctx.input(first + 1), "strong_hash"));
    const bool strong = ctx.input(first + 1).flat<bool>()[0];
    const auto salt = ctx.input(first + 2).flat<int64_t>();
    if (salt.size() != 2) {
      return InvalidArgumentError(
          StrCat("Input \"salt\" must have length 2 but has length ", salt.size()));
    }
    const SipKey key = {static_cast<uint64_t>(salt[0]), static_cast<uint64_t>(salt[1])};
    return CrossAll<int64_t>(ctx, columns, batch, [&](const std::vector<int64_t>& places) {
      uint64_t hash = KeyedHash(columns[0], places[0], strong, key);
      for (size_t i = 1; i < columns.size(); ++i) {
        hash = FingerprintCat64(hash, KeyedHash(columns[i], places[i], strong, key));
      }
      return Bucket(hash, buckets);
    });
  });
}

}  // namespace

std::span<const KernelDef> SparseCrossKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"SparseCross", BindCross},
      {"SparseCrossV2", BindCrossV2},
      {"SparseCrossHashed", BindCrossHashed},
  });
  return table;
}

}  // namespace slipway::kernels
