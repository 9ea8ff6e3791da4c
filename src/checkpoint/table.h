// SPDX-License-Identifier: Apache-2.0
//
// Sorted string tables in the format of LevelDB (its doc/table_format.md), as TensorFlow uses them
// for the index of a tensor bundle: blocks of prefix-compressed entries with restart points, each
// with a type byte and a masked CRC32C, an index block of block handles, a 48-byte footer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "slipway/status.h"

namespace slipway {

// A whole table in memory. Thread safety: const access from several threads.
class TableReader {
 public:
  struct Options {
    uint64_t max_file_bytes = uint64_t{1} << 30;
    uint64_t max_block_bytes = uint64_t{256} << 20;  // of one uncompressed block
  };
  // DATA_LOSS naming the file for anything that is not a table: wrong magic, a handle that points
  // outside, a wrong checksum, a damaged block. RESOURCE_EXHAUSTED over the limits.
  static StatusOr<TableReader> Open(Env* env, const std::string& path, const Options& options);
  static StatusOr<TableReader> Open(Env* env, const std::string& path) {
    return Open(env, path, Options());
  }
  // `name` is the file's, for messages.
  static StatusOr<TableReader> FromBytes(std::string bytes, std::string name,
                                         const Options& options);

  // Calls visit(key, value) for every entry in the order of keys; stops at its first error. The
  // views live for the call only. DATA_LOSS too when keys are out of order.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  Status ForEach(const Visitor& visit) const;

 private:
  struct Handle {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  TableReader(std::string bytes, std::string name, const Options& options)
      : bytes_(std::move(bytes)), name_(std::move(name)), options_(options) {}
  Status ReadFooter();
  // The contents of a block: a view of the file, or of `scratch` if it was compressed.
  StatusOr<std::string_view> ReadBlock(const Handle& handle, std::string* scratch) const;
  Status VisitBlock(std::string_view block, const Visitor& visit) const;
  Status Damaged(std::string_view what) const;
  static bool ParseHandle(std::string_view* bytes, Handle* handle);

  std::string bytes_;
  std::string name_;
  Options options_;
  Handle index_;
};

// Writes a table to a file. Not thread safe.
class TableWriter {
 public:
  // `file` must live until Finish; it is neither synced nor closed.
  explicit TableWriter(WritableFile* file) : file_(file) {}

  // REQUIRES: keys in strictly increasing order (bytewise); else INVALID_ARGUMENT.
  Status Add(std::string_view key, std::string_view value);
  Status Finish();

 private:
  struct Block {
    std::string bytes;
    std::string last_key;
    std::vector<uint32_t> restarts{0};
    int since_restart = 0;
    void Add(std::string_view key, std::string_view value);
    std::string_view Close();
    void Clear();
  };
  Status FlushData();
  // Writes with trailer; the encoded handle goes to `handle`.
  Status WriteBlock(std::string_view contents, std::string* handle);

  WritableFile* file_;
  uint64_t offset_ = 0;
  Block data_;
  Block index_;
  bool any_ = false;
};

}  // namespace slipway
