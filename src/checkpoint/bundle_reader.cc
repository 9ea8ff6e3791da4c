// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "checkpoint/bundle_format.h"
#include "checkpoint/slice_copy.h"
#include "checkpoint/table.h"
#include "wire/coding.h"
#include "wire/crc32c.h"

namespace slipway {

struct BundleReader::State {
  Env* env = nullptr;
  std::string prefix;
  Options options;
  int num_shards = 0;
  std::map<std::string, BundleEntry, std::less<>> entries;
  std::map<std::string, BundleEntry, std::less<>> pieces;  // by PieceKey

  mutable std::mutex mutex;
  mutable std::map<int, std::unique_ptr<RandomAccessFile>> shards;

  Status AddEntry(std::string_view key, std::string_view value);
  StatusOr<const RandomAccessFile*> Shard(int shard) const;
  // The file of the entry's shard, known to hold the entry's bytes.
  StatusOr<const RandomAccessFile*> FileOf(std::string_view key, const BundleEntry& entry) const;
  Status Damaged(std::string_view key, const BundleEntry& entry, std::string_view what) const;
  StatusOr<Tensor> ReadStored(std::string_view key, const BundleEntry& entry) const;
  Status ReadNumbers(std::string_view key, const BundleEntry& entry, const RandomAccessFile& file,
                     Tensor* tensor) const;
  Status ReadStrings(std::string_view key, const BundleEntry& entry, const RandomAccessFile& file,
                     Tensor* tensor) const;
  StatusOr<Tensor> Assemble(std::string_view key, const BundleEntry& entry,
                            const TensorSlice& wanted) const;
};

BundleReader::BundleReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
BundleReader::~BundleReader() = default;
int BundleReader::num_shards() const { return state_->num_shards; }
const std::map<std::string, BundleEntry, std::less<>>& BundleReader::entries() const {
  return state_->entries;
}

Status BundleReader::State::AddEntry(std::string_view key, std::string_view value) {
  const std::string index = BundleIndexName(prefix);
  if (key.empty()) {
    StatusOr<BundleHeader> header = DecodeBundleHeader(value);
    if (!header.ok()) return DataLossError(StrCat(index, ": ", header.status().message()));
    if (header->big_endian) {
      return UnimplementedError(StrCat(
          index, ": was written on a big-endian machine; write it again on a little-endian one"));
    }
    if (header->min_consumer > kBundleVersion) {
      return UnimplementedError(StrCat(index, ": needs format version ", header->min_consumer,
                                       "; this program knows version ", kBundleVersion));
    }
    if (header->num_shards <= 0) {
      return DataLossError(StrCat(index, ": declares ", header->num_shards, " shards"));
    }
    num_shards = header->num_shards;
    return OkStatus();
  }
  StatusOr<BundleEntry> entry = DecodeBundleEntry(value);
  if (!entry.ok()) {
    return DataLossError(StrCat(index, ": key ", Quoted(key), ": ", entry.status().message()));
  }
  if (entry->shard < 0 || entry->shard >= num_shards) {
    return DataLossError(
        StrCat(index, ": key ", Quoted(key), " is in shard ", entry->shard, " of ", num_shards));
  }
  auto& target = IsPieceKey(key) ? pieces : entries;
  target.emplace_hint(target.end(), key, *std::move(entry));
  return OkStatus();
}

StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(Env* env, const std::string& prefix,
                                                           Options options) {
  auto state = std::make_unique<State>();
  state->env = env;
  state->prefix = prefix;
  state->options = options;
  const std::string index = BundleIndexName(prefix);
  ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(env, index));
  RETURN_IF_ERROR(table.ForEach(
      [&](std::string_view key, std::string_view value) { return state->AddEntry(key, value); }));
  if (state->num_shards == 0) return DataLossError(StrCat(index, ": has no header entry"));
  return std::unique_ptr<BundleReader>(new BundleReader(std::move(state)));
}

StatusOr<const BundleEntry*> BundleReader::Find(std::string_view key) const {
  const auto it = state_->entries.find(key);
  if (it != state_->entries.end()) return &it->second;
  std::string message =
      StrCat("Key ", Quoted(key, 200), " not found in checkpoint ", state_->prefix);
  if (state_->entries.size() <= 10'000) {
    std::vector<std::string> keys;
    for (const auto& [name, entry] : state_->entries) keys.push_back(name);
    if (const auto near = NearestWord(key, keys)) StrAppend(&message, "; it has ", Quoted(*near));
  }
  return NotFoundError(std::move(message));
}

StatusOr<const RandomAccessFile*> BundleReader::State::Shard(int shard) const {
  const std::lock_guard lock(mutex);
  auto& file = shards[shard];
  if (file == nullptr) {
    ASSIGN_OR_RETURN(file, env->OpenForReading(BundleDataName(prefix, shard, num_shards)));
  }
  return file.get();
}

Status BundleReader::State::Damaged(std::string_view key, const BundleEntry& entry,
                                    std::string_view what) const {
  return DataLossError(
      StrCat(BundleDataName(prefix, entry.shard, num_shards), ": key ", Quoted(key), ": ", what));
}

StatusOr<const RandomAccessFile*> BundleReader::State::FileOf(std::string_view key,
                                                              const BundleEntry& entry) const {
  ASSIGN_OR_RETURN(const RandomAccessFile* file, Shard(entry.shard));
  if (entry.offset + entry.size > file->size()) {
    return Damaged(key, entry,
                   StrCat("lies at ", entry.offset, " with ", entry.size,
                          " bytes, but the file has only ", file->size(), "; it was cut short"));
  }
  return file;
}

Status BundleReader::State::ReadNumbers(std::string_view key, const BundleEntry& entry,
                                        const RandomAccessFile& file, Tensor* tensor) const {
  if (entry.size > 0) {
    RETURN_IF_ERROR(file.Read(entry.offset, entry.size, tensor->raw_data()));
  }
  if (options.verify_checksums &&
      MaskCrc32c(ExtendCrc32c(0, tensor->raw_data(), entry.size)) != entry.masked_crc32c) {
    return Damaged(key, entry, "the checksum of its bytes is wrong; the file is damaged");
  }
  if (entry.dtype == DType::kBool) {
    auto* bytes = static_cast<uint8_t*>(tensor->raw_data());
    for (uint64_t i = 0; i < entry.size; ++i) bytes[i] = bytes[i] != 0;
  }
  return OkStatus();
}

// Varint lengths of all strings, the masked checksum of the lengths, then the strings.
Status BundleReader::State::ReadStrings(std::string_view key, const BundleEntry& entry,
                                        const RandomAccessFile& file, Tensor* tensor) const {
  std::string bytes(entry.size, '\0');
  RETURN_IF_ERROR(file.Read(entry.offset, bytes.size(), bytes.data()));
  auto strings = tensor->flat<std::string>();
  std::vector<uint64_t> lengths(strings.size());
  std::string_view rest = bytes;
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    if (!ConsumeVarint(&rest, &length))
      return Damaged(key, entry, "a string's length is cut short");
    crc = ExtendCrcByLength(crc, length);
  }
  if (rest.size() < 4) return Damaged(key, entry, "the strings are cut short");
  if (options.verify_checksums && LoadFixed32(rest.data()) != MaskCrc32c(crc)) {
    return Damaged(key, entry, "the checksum of the strings' lengths is wrong");
  }
  crc = ExtendCrc32c(crc, rest.data(), rest.size());
  if (options.verify_checksums && MaskCrc32c(crc) != entry.masked_crc32c) {
    return Damaged(key, entry, "the checksum of its strings is wrong; the file is damaged");
  }
  rest.remove_prefix(4);
  for (size_t i = 0; i < strings.size(); ++i) {
    if (lengths[i] > rest.size()) return Damaged(key, entry, "a string is cut short");
    strings[i].assign(rest.substr(0, lengths[i]));
    rest.remove_prefix(lengths[i]);
  }
  if (!rest.empty()) return Damaged(key, entry, "there are bytes after the last string");
  return OkStatus();
}

StatusOr<Tensor> BundleReader::State::ReadStored(std::string_view key,
                                                 const BundleEntry& entry) const {
  if (entry.dtype == DType::kInvalid || entry.dtype == DType::kResource ||
      entry.dtype == DType::kVariant) {
    return UnimplementedError(
        StrCat("Key ", Quoted(key), " of ", prefix, " holds a type that cannot be read (",
               DTypeEnumName(entry.dtype), "); only numbers and strings can"));
  }
  ASSIGN_OR_RETURN(const RandomAccessFile* file, FileOf(key, entry));
  const auto n = static_cast<uint64_t>(entry.shape.num_elements());
  const bool strings = entry.dtype == DType::kString;
  // Checked before memory is reserved: a shape alone may claim any size.
  if (strings ? n > entry.size : n > entry.size || n * DTypeSize(entry.dtype) != entry.size) {
    return Damaged(key, entry,
                   StrCat("has ", entry.size, " bytes, which do not fit type ",
                          DTypeName(entry.dtype), " and shape ", entry.shape.ToString()));
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(entry.dtype, entry.shape, options.allocator));
  RETURN_IF_ERROR(strings ? ReadStrings(key, entry, *file, &tensor)
                          : ReadNumbers(key, entry, *file, &tensor));
  return tensor;
}

StatusOr<Tensor> BundleReader::State::Assemble(std::string_view key, const BundleEntry& entry,
                                               const TensorSlice& wanted) const {
  ASSIGN_OR_RETURN(const Shape shape, wanted.ShapeIn(entry.shape));
  const Box target = BoxOf(wanted, entry.shape);
  struct Part {
    std::string key;
    const BundleEntry* stored;
    Box box;
  };
  std::vector<Part> parts;
  uint64_t covered = 0;
  uint64_t bytes = 0;
  for (const TensorSlice& slice : entry.slices) {
    StatusOr<Shape> piece_shape = slice.ShapeIn(entry.shape);
    if (!piece_shape.ok()) return Damaged(key, entry, piece_shape.status().message());
    const Box box = BoxOf(slice, entry.shape);
    const int64_t overlap = OverlapElements(box, target);
    if (overlap == 0) continue;
    std::string piece_key = PieceKey(key, slice);
    const auto it = pieces.find(piece_key);
    if (it == pieces.end() || it->second.dtype != entry.dtype || it->second.shape != *piece_shape) {
      return DataLossError(StrCat(BundleIndexName(prefix), ": key ", Quoted(key), ": its piece ",
                                  slice.ToString(), " is missing or of another type or shape"));
    }
    RETURN_IF_ERROR(FileOf(key, it->second).status());
    covered += static_cast<uint64_t>(overlap);
    bytes += it->second.size;
    parts.push_back({std::move(piece_key), &it->second, box});
  }
  const auto n = static_cast<uint64_t>(shape.num_elements());
  if (covered != n || n > bytes) {
    return DataLossError(StrCat(BundleIndexName(prefix), ": key ", Quoted(key),
                                ": its pieces hold ", covered, " of the ", n, " elements of ",
                                wanted.ToString()));
  }
  ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(entry.dtype, shape, options.allocator));
  // Pieces that overlap each other would leave gaps.
  if (!IsObject(entry.dtype)) std::memset(result.raw_data(), 0, result.byte_size());
  for (const Part& part : parts) {
    ASSIGN_OR_RETURN(const Tensor piece, ReadStored(key, *part.stored));
    CopyOverlap(piece, part.box, &result, target);
  }
  return result;
}

StatusOr<Tensor> BundleReader::Read(std::string_view key) const {
  ASSIGN_OR_RETURN(const BundleEntry* entry, Find(key));
  if (entry->slices.empty()) return state_->ReadStored(key, *entry);
  TensorSlice whole;
  whole.extents.resize(static_cast<size_t>(entry->shape.rank()));
  return state_->Assemble(key, *entry, whole);
}

StatusOr<Tensor> BundleReader::ReadSlice(std::string_view key, const TensorSlice& slice) const {
  ASSIGN_OR_RETURN(const BundleEntry* entry, Find(key));
  if (!entry->slices.empty()) return state_->Assemble(key, *entry, slice);
  ASSIGN_OR_RETURN(const Shape shape, slice.ShapeIn(entry->shape));
  ASSIGN_OR_RETURN(Tensor whole, state_->ReadStored(key, *entry));
  if (shape == entry->shape) return whole;
  ASSIGN_OR_RETURN(Tensor part, Tensor::Allocate(entry->dtype, shape, state_->options.allocator));
  TensorSlice all;
  all.extents.resize(slice.extents.size());
  CopyOverlap(whole, BoxOf(all, entry->shape), &part, BoxOf(slice, entry->shape));
  return part;
}

Status VerifyBundle(Env* env, const std::string& prefix, const VerifyBundleOptions& options) {
  ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(env, prefix));
  std::map<int, uint64_t> ends;  // by shard
  RETURN_IF_ERROR(reader->ForEachStored([&](std::string_view, const BundleEntry& entry) {
    uint64_t& end = ends[entry.shard];
    end = std::max(end, entry.offset + entry.size);
    return OkStatus();
  }));
  for (const auto& [shard, end] : ends) {
    const std::string path = BundleDataName(prefix, shard, reader->num_shards());
    ASSIGN_OR_RETURN(const FileInfo info, env->Stat(path));
    if (info.size < end) {
      return DataLossError(StrCat(path, ": has ", info.size, " bytes, but the index needs ", end,
                                  "; it was cut short or is still being copied"));
    }
  }
  if (!options.checksums) return OkStatus();
  for (const auto& [key, entry] : reader->entries()) {
    const Status status = reader->Read(key).status();
    if (!status.ok() && status.code() != Code::kUnimplemented) return status;
  }
  return OkStatus();
}

Status BundleReader::ForEachStored(const StoredVisitor& visit) const {
  for (const auto& [key, entry] : state_->entries) {
    if (entry.slices.empty()) RETURN_IF_ERROR(visit(key, entry));
  }
  for (const auto& [key, entry] : state_->pieces) RETURN_IF_ERROR(visit(key, entry));
  return OkStatus();
}

}  // namespace slipway
