// SPDX-License-Identifier: Apache-2.0
//
// TFRecord files: u64 length | masked CRC32C of the length | bytes | masked CRC32C of the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "slipway/status.h"

namespace slipway {

// Reads records in order, through a buffer. Not thread safe.
class RecordReader {
 public:
  struct Options {
    uint64_t max_record_bytes = uint64_t{1} << 31;  // longer: RESOURCE_EXHAUSTED
    size_t buffer_bytes = 256 << 10;
  };
  static StatusOr<std::unique_ptr<RecordReader>> Open(Env* env, const std::string& path,
                                                      Options options);
  static StatusOr<std::unique_ptr<RecordReader>> Open(Env* env, const std::string& path) {
    return Open(env, path, Options());
  }
  RecordReader(std::unique_ptr<RandomAccessFile> file, std::string path, Options options);

  // The next record, true; false at the end of the file. DATA_LOSS with path and offset when a
  // checksum does not agree or the file ends within a record. The view lives until the next call.
  StatusOr<bool> Next(std::string_view* record);

  // After a DATA_LOSS: the file ended within a record (its writer may still be at work).
  bool truncated() const { return truncated_; }

  // Where the next record begins; Seek goes back to such a place.
  uint64_t offset() const { return offset_; }
  void Seek(uint64_t offset);

 private:
  // Makes `bytes` bytes from offset_ on be in the buffer; returns where.
  StatusOr<const char*> Need(uint64_t bytes);
  Status Damaged(std::string_view what) const;

  std::unique_ptr<RandomAccessFile> file_;
  std::string path_;
  Options options_;
  uint64_t offset_ = 0;  // in the file, of the next record
  std::string buffer_;   // bytes from buffer_offset_ on
  uint64_t buffer_offset_ = 0;
  bool truncated_ = false;
};

// Appends records to a file. Not thread safe. Close (or Flush) before the bytes are looked for.
class RecordWriter {
 public:
  explicit RecordWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  Status Write(std::string_view record);
  Status Flush() { return file_->Flush(); }
  Status Sync() { return file_->Sync(); }
  Status Close() { return file_->Close(); }

 private:
  std::unique_ptr<WritableFile> file_;
};

// One record in its framed form, for those who write elsewhere.
void AppendRecord(std::string_view record, std::string* out);

}  // namespace slipway
