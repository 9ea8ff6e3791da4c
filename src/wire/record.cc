// SPDX-License-Identifier: Apache-2.0
#include "wire/record.h"

#include <algorithm>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/crc32c.h"

namespace slipway {
namespace {

constexpr uint64_t kHeaderBytes = 12;  // length and its checksum
constexpr uint64_t kFooterBytes = 4;

void MakeHeader(uint64_t size, char* header) {
  std::memcpy(header, &size, 8);
  const uint32_t crc = MaskedCrc32c({header, 8});
  std::memcpy(header + 8, &crc, 4);
}

}  // namespace

RecordReader::RecordReader(std::unique_ptr<RandomAccessFile> file, std::string path,
                           Options options)
    : file_(std::move(file)), path_(std::move(path)), options_(options) {}

StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(Env* env, const std::string& path,
                                                           Options options) {
  ASSIGN_OR_RETURN(auto file, env->OpenForReading(path));
  return std::make_unique<RecordReader>(std::move(file), path, options);
}

void RecordReader::Seek(uint64_t offset) {
  offset_ = offset;
  truncated_ = false;
}

Status RecordReader::Damaged(std::string_view what) const {
  return DataLossError(
      StrCat(path_, ": the record at byte ", offset_, " ", what, "; the file is damaged"));
}

StatusOr<const char*> RecordReader::Need(uint64_t bytes) {
  const uint64_t buffer_end = buffer_offset_ + buffer_.size();
  if (offset_ < buffer_offset_ || offset_ + bytes > buffer_end) {
    const uint64_t left = file_->size() - offset_;
    const uint64_t wanted = std::min(left, std::max<uint64_t>(bytes, options_.buffer_bytes));
    buffer_.resize(wanted);
    buffer_offset_ = offset_;
    const Status status = file_->Read(offset_, wanted, buffer_.data());
    if (!status.ok()) {
      buffer_.clear();
      return status;
    }
  }
  return buffer_.data() + (offset_ - buffer_offset_);
}

StatusOr<bool> RecordReader::Next(std::string_view* record) {
  if (offset_ >= file_->size()) return false;
  const uint64_t left = file_->size() - offset_;
  if (left < kHeaderBytes) {
    truncated_ = true;
    return Damaged("is cut short");
  }
  ASSIGN_OR_RETURN(const char* header, Need(kHeaderBytes));
  if (MaskedCrc32c({header, 8}) != LoadFixed32(header + 8)) {
    return Damaged("has a wrong checksum of its length");
  }
  const uint64_t size = LoadFixed64(header);
  if (left - kHeaderBytes < kFooterBytes || size > left - kHeaderBytes - kFooterBytes) {
    truncated_ = true;
    return Damaged("is cut short");
  }
  if (size > options_.max_record_bytes) {
    return ResourceExhaustedError(StrCat(path_, ": the record at byte ", offset_, " has ", size,
                                         " bytes; the limit is ", options_.max_record_bytes));
  }
  ASSIGN_OR_RETURN(header, Need(kHeaderBytes + size + kFooterBytes));
  *record = {header + kHeaderBytes, static_cast<size_t>(size)};
  if (MaskedCrc32c(*record) != LoadFixed32(record->data() + size)) {
    return Damaged("has a wrong checksum");
  }
  offset_ += kHeaderBytes + size + kFooterBytes;
  return true;
}

Status RecordWriter::Write(std::string_view record) {
  char header[kHeaderBytes];
  MakeHeader(record.size(), header);
  RETURN_IF_ERROR(file_->Append({header, kHeaderBytes}));
  RETURN_IF_ERROR(file_->Append(record));
  const uint32_t crc = MaskedCrc32c(record);
  return file_->Append({reinterpret_cast<const char*>(&crc), sizeof(crc)});
}

void AppendRecord(std::string_view record, std::string* out) {
  char header[kHeaderBytes];
  MakeHeader(record.size(), header);
  out->append(header, kHeaderBytes);
  out->append(record);
  AppendFixed32(out, MaskedCrc32c(record));
}

}  // namespace slipway
