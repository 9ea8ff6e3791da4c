// SPDX-License-Identifier: Apache-2.0
//
// Lookup tables: what the LookupTable… ops of a graph work on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "slipway/tensor.h"

namespace slipway::kernels {

enum class TableKind {
  kStatic,   // filled once (HashTable)
  kMutable,  // MutableHashTable, …OfTensors
  kDense,    // MutableDenseHashTable: two keys are reserved, keys may be vectors
};

struct TableOptions {
  TableKind kind = TableKind::kStatic;
  DType key_dtype = DType::kInvalid;
  DType value_dtype = DType::kInvalid;
  Shape key_shape;    // of one key
  Shape value_shape;  // of one value
};

// The keys of a table as something that hashes fast: one integer (of the key's bits), or bytes.
class TableKeys {
 public:
  TableKeys(DType dtype, int64_t width);

  bool is_text() const { return text_; }
  int64_t Integer(const Tensor& keys, int64_t i) const;
  // The bytes of key i, in the tensor itself or in *scratch.
  const std::string& Text(const Tensor& keys, int64_t i, std::string* scratch) const;
  void WriteInteger(int64_t key, Tensor* keys, int64_t i) const;
  void WriteText(const std::string& key, Tensor* keys, int64_t i) const;

 private:
  const DType dtype_;
  const int64_t width_;
  const size_t key_bytes_;
  const bool text_;
};

// Keys and values of fixed dtypes. Methods check the dtypes and shapes they are given and answer
// with TensorFlow's words (INVALID_ARGUMENT).
// Thread safety: all methods from any thread. Readers share a lock, writers have it alone.
class LookupTable : public Resource {
 public:
  // INVALID_ARGUMENT: dtypes that no table has.
  static StatusOr<std::shared_ptr<LookupTable>> Create(std::string name, TableOptions options);

  const std::string& name() const { return name_; }
  const TableOptions& options() const { return options_; }
  std::string DebugString() const override { return "table " + name_; }

  // The keys that no entry may have. REQUIRES: before any other use; kDense.
  Status Reserve(const Tensor& empty_key, const Tensor& deleted_key);

  // The shape of the values for these keys: that of the keys, without the dimensions of one key,
  // with those of one value.
  StatusOr<Shape> ValuesShape(const Tensor& keys) const;
  // values: of ValuesShape(keys). A key that is not there takes its value from `otherwise`, which
  // is one value or one for each key. FAILED_PRECONDITION: a static table that was not filled.
  Status Find(const Tensor& keys, const Tensor& otherwise, Tensor* values) const;
  // Fills a static table. FAILED_PRECONDITION: one key with two values (the table stays empty), or
  // the table was filled with another number of entries.
  Status Initialize(const Tensor& keys, const Tensor& values);
  // The last of equal keys wins. UNIMPLEMENTED for static tables, as for Remove.
  Status Insert(const Tensor& keys, const Tensor& values);
  Status Remove(const Tensor& keys);
  // Replaces everything (and fills a static table).
  Status Import(const Tensor& keys, const Tensor& values);
  int64_t size() const;
  // All entries. ABORTED: a static table that was not filled.
  Status Export(Tensor* keys, Tensor* values) const;
  bool initialized() const { return initialized_.load(std::memory_order_acquire); }

 private:
  // Values lie in rows; a removed entry's row is used again.
  struct Rows {
    std::unordered_map<int64_t, int64_t> by_integer;
    std::unordered_map<std::string, int64_t> by_text;
    std::vector<char> bytes;
    std::vector<std::string> texts;
    std::vector<int64_t> free;
    int64_t count = 0;
  };
  LookupTable(std::string name, TableOptions options);

  int64_t FindRow(const Tensor& keys, int64_t i, std::string* scratch) const;
  void Put(const Tensor& keys, int64_t i, const Tensor& values, Rows* rows,
           std::string* scratch) const;
  bool SameValue(const Rows& rows, int64_t row, const Tensor& values, int64_t i) const;
  void CopyValue(const Rows& rows, int64_t row, Tensor* values, int64_t i) const;
  Status CheckDtypes(DType keys, DType values) const;
  Status CheckPair(const Tensor& keys, const Tensor& values) const;
  Status CheckNotReserved(const Tensor& keys) const;
  int64_t CountKeys(const Tensor& keys) const;
  StatusOr<Rows> MakeUniqueRows(const Tensor& keys, const Tensor& values) const;

  const std::string name_;
  const TableOptions options_;
  const TableKeys keys_;
  const int64_t value_width_;
  const size_t value_bytes_;
  Tensor empty_key_, deleted_key_;
  std::atomic<bool> initialized_{false};
  mutable std::shared_mutex mutex_;
  Rows rows_;
};

}  // namespace slipway::kernels
