// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/table.h"

#include <snappy.h>

#include <algorithm>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/crc32c.h"

namespace slipway {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;  // type, masked CRC32C of contents and type
constexpr char kPlain = 0;
constexpr char kSnappy = 1;

constexpr size_t kBlockBytes = 4096;
constexpr int kRestartInterval = 16;

// Prefix compression lets few bytes stand for many: keys are bounded one by one and together.
constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr uint64_t kMaxAllKeyBytes = uint64_t{256} << 20;

}  // namespace

Status TableReader::Damaged(std::string_view what) const {
  return DataLossError(StrCat(name_, ": ", what, "; the file is damaged or is not a table"));
}

bool TableReader::ParseHandle(std::string_view* bytes, Handle* handle) {
  return ConsumeVarint(bytes, &handle->offset) && ConsumeVarint(bytes, &handle->size);
}

StatusOr<TableReader> TableReader::Open(Env* env, const std::string& path, const Options& options) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(env, path, options.max_file_bytes));
  return FromBytes(std::move(bytes), path, options);
}

StatusOr<TableReader> TableReader::FromBytes(std::string bytes, std::string name,
                                             const Options& options) {
  TableReader reader(std::move(bytes), std::move(name), options);
  RETURN_IF_ERROR(reader.ReadFooter());
  return reader;
}

Status TableReader::ReadFooter() {
  if (bytes_.size() < kFooterBytes) {
    return Damaged(StrCat("has ", bytes_.size(), " bytes, fewer than a footer"));
  }
  std::string_view footer = std::string_view(bytes_).substr(bytes_.size() - kFooterBytes);
  if (LoadFixed64(footer.data() + kFooterBytes - 8) != kMagic) {
    return Damaged("does not end with the magic number of a table");
  }
  footer.remove_suffix(8);
  Handle meta_index;
  if (!ParseHandle(&footer, &meta_index) || !ParseHandle(&footer, &index_)) {
    return Damaged("has a footer that cannot be read");
  }
  // Nothing in it is needed, but a file damaged there is a damaged file.
  std::string scratch;
  return ReadBlock(meta_index, &scratch).status();
}

StatusOr<std::string_view> TableReader::ReadBlock(const Handle& handle,
                                                  std::string* scratch) const {
  const uint64_t room = bytes_.size() - kFooterBytes;
  if (room < kTrailerBytes || handle.offset > room - kTrailerBytes ||
      handle.size > room - kTrailerBytes - handle.offset) {
    return Damaged(StrCat("points to a block at ", handle.offset, " of ", handle.size,
                          " bytes, which is not within its ", bytes_.size(), " bytes"));
  }
  const std::string_view block = std::string_view(bytes_).substr(handle.offset, handle.size + 1);
  const uint32_t stored = LoadFixed32(block.data() + block.size());
  if (MaskedCrc32c(block) != stored) {
    return Damaged(StrCat("has a wrong checksum in the block at ", handle.offset));
  }
  const std::string_view contents = block.substr(0, handle.size);
  if (block.back() == kPlain) return contents;
  if (block.back() != kSnappy) {
    return Damaged(StrCat("has a block of the unknown type ", static_cast<int>(block.back())));
  }
  size_t size = 0;
  if (!snappy::GetUncompressedLength(contents.data(), contents.size(), &size) ||
      size > options_.max_block_bytes) {
    return Damaged(StrCat("has a compressed block at ", handle.offset, " of an impossible size"));
  }
  scratch->resize(size);
  if (!snappy::RawUncompress(contents.data(), contents.size(), scratch->data())) {
    return Damaged(StrCat("has a compressed block at ", handle.offset, " that does not unpack"));
  }
  return std::string_view(*scratch);
}

Status TableReader::VisitBlock(std::string_view block, const Visitor& visit) const {
  if (block.size() < 4) return Damaged("has a block without an end");
  const uint64_t restarts = LoadFixed32(block.data() + block.size() - 4);
  if (restarts * 4 > block.size() - 4) return Damaged("has a block with too many restart points");
  std::string_view rest = block.substr(0, block.size() - 4 - restarts * 4);
  std::string key;
  while (!rest.empty()) {
    uint64_t shared = 0;
    uint64_t own = 0;
    uint64_t value = 0;
    if (!ConsumeVarint(&rest, &shared) || !ConsumeVarint(&rest, &own) ||
        !ConsumeVarint(&rest, &value) || shared > key.size() || own > rest.size() ||
        value > rest.size() - own || shared + own > kMaxKeyBytes) {
      return Damaged("has a damaged entry in a block");
    }
    key.resize(shared);
    key.append(rest.substr(0, own));
    RETURN_IF_ERROR(visit(key, rest.substr(own, value)));
    rest.remove_prefix(own + value);
  }
  return OkStatus();
}

Status TableReader::ForEach(const Visitor& visit) const {
  std::string index_scratch;
  std::string data_scratch;
  std::string last;
  bool any = false;
  uint64_t key_bytes = 0;
  uint64_t end_of_last = 0;
  const auto visit_entry = [&](std::string_view key, std::string_view value) -> Status {
    if (any && key <= last) return Damaged("has keys out of order");
    key_bytes += key.size();
    if (key_bytes > kMaxAllKeyBytes) {
      return ResourceExhaustedError(
          StrCat(name_, ": the keys of the table are over ", kMaxAllKeyBytes, " bytes together"));
    }
    any = true;
    last.assign(key);
    return visit(key, value);
  };
  const auto visit_index = [&](std::string_view, std::string_view value) -> Status {
    Handle handle;
    // Blocks follow each other, so that no block can be read again and again.
    if (!ParseHandle(&value, &handle) || handle.offset < end_of_last) {
      return Damaged("has a wrong entry in its index block");
    }
    ASSIGN_OR_RETURN(const std::string_view block, ReadBlock(handle, &data_scratch));
    end_of_last = handle.offset + handle.size + kTrailerBytes;
    return VisitBlock(block, visit_entry);
  };
  ASSIGN_OR_RETURN(const std::string_view index, ReadBlock(index_, &index_scratch));
  return VisitBlock(index, visit_index);
}

void TableWriter::Block::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart == kRestartInterval) {
    restarts.push_back(static_cast<uint32_t>(bytes.size()));
    since_restart = 0;
  } else if (since_restart > 0) {
    const size_t most = std::min(key.size(), last_key.size());
    while (shared < most && key[shared] == last_key[shared]) ++shared;
  }
  AppendVarint(&bytes, shared);
  AppendVarint(&bytes, key.size() - shared);
  AppendVarint(&bytes, value.size());
  bytes.append(key.substr(shared));
  bytes.append(value);
  last_key.assign(key);
  ++since_restart;
}

std::string_view TableWriter::Block::Close() {
  for (uint32_t at : restarts) AppendFixed32(&bytes, at);
  AppendFixed32(&bytes, static_cast<uint32_t>(restarts.size()));
  return bytes;
}

void TableWriter::Block::Clear() { *this = Block(); }

Status TableWriter::Add(std::string_view key, std::string_view value) {
  if (key.size() > kMaxKeyBytes) {
    return InvalidArgumentError(StrCat("The key ", Quoted(key), " has ", key.size(),
                                       " bytes; at most ", kMaxKeyBytes, " are allowed"));
  }
  const std::string& last = data_.bytes.empty() ? index_.last_key : data_.last_key;
  if (any_ && key <= last) {
    return InvalidArgumentError(
        StrCat("Key ", Quoted(key), " comes after ", Quoted(last), "; keys must increase"));
  }
  any_ = true;
  data_.Add(key, value);
  return data_.bytes.size() >= kBlockBytes ? FlushData() : OkStatus();
}

Status TableWriter::FlushData() {
  if (data_.bytes.empty()) return OkStatus();
  std::string handle;
  RETURN_IF_ERROR(WriteBlock(data_.Close(), &handle));
  index_.Add(data_.last_key, handle);
  data_.Clear();
  return OkStatus();
}

Status TableWriter::WriteBlock(std::string_view contents, std::string* handle) {
  AppendVarint(handle, offset_);
  AppendVarint(handle, contents.size());
  std::string trailer(1, kPlain);
  AppendFixed32(&trailer, MaskCrc32c(ExtendCrc32c(Crc32c(contents), trailer.data(), 1)));
  offset_ += contents.size() + trailer.size();
  RETURN_IF_ERROR(file_->Append(contents));
  return file_->Append(trailer);
}

Status TableWriter::Finish() {
  RETURN_IF_ERROR(FlushData());
  std::string footer;
  Block meta_index;
  RETURN_IF_ERROR(WriteBlock(meta_index.Close(), &footer));
  RETURN_IF_ERROR(WriteBlock(index_.Close(), &footer));
  footer.resize(kFooterBytes - 8, '\0');
  AppendFixed64(&footer, kMagic);
  return file_->Append(footer);
}

}  // namespace slipway
