// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "base/temporary.h"
#include "checkpoint/bundle.h"
#include "checkpoint/bundle_format.h"
#include "checkpoint/table.h"
#include "wire/coding.h"
#include "wire/crc32c.h"

namespace slipway {
namespace {

// How many shards the names of the new data files say, so that none is used by the old index.
StatusOr<int> NewShardCount(Env* env, const std::string& prefix) {
  if (!env->Exists(BundleIndexName(prefix))) return 1;
  const auto old = BundleReader::Open(env, prefix);
  if (old.ok()) return (*old)->num_shards() == 1 ? 2 : 1;
  // Nothing can be read through a damaged index, but who looks into it should find its data.
  return env->Exists(BundleDataName(prefix, 0, 1)) ? 2 : 1;
}

}  // namespace

struct BundleWriter::State {
  Env* env = nullptr;
  std::string prefix;
  int num_shards = 1;     // known in Commit
  std::string data_path;  // temporary, as is index_path
  std::string index_path;
  std::unique_ptr<WritableFile> data;
  uint64_t offset = 0;
  std::map<std::string, BundleEntry, std::less<>> entries;  // pieces too, by PieceKey
  bool failed = false;
  bool finished = false;

  Status Store(std::string_view key, const Tensor& tensor, BundleEntry* entry);
  Status AppendNumbers(const Tensor& tensor, BundleEntry* entry);
  Status AppendStrings(const Tensor& tensor, BundleEntry* entry);
  Status WriteIndex();
  Status Commit();
  void RemoveStaleData();
};

BundleWriter::BundleWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

BundleWriter::~BundleWriter() {
  if (state_->finished) return;
  state_->data.reset();
  // Best effort: a later writer in this directory removes what is left.
  state_->env->RemoveFile(state_->data_path).IgnoreError();
  state_->env->RemoveFile(state_->index_path).IgnoreError();
}

StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Create(Env* env, const std::string& prefix) {
  auto state = std::make_unique<State>();
  state->env = env;
  state->prefix = prefix;
  const std::string directory(Dirname(prefix));
  RETURN_IF_ERROR(env->CreateDirectories(directory));
  RemoveAbandoned(env, directory);
  state->data_path = TemporaryName(StrCat(prefix, ".data"));
  state->index_path = TemporaryName(BundleIndexName(prefix));
  ASSIGN_OR_RETURN(state->data, env->OpenForWriting(state->data_path));
  return std::unique_ptr<BundleWriter>(new BundleWriter(std::move(state)));
}

Status BundleWriter::State::AppendNumbers(const Tensor& tensor, BundleEntry* entry) {
  const std::string_view bytes(static_cast<const char*>(tensor.raw_data()), tensor.byte_size());
  entry->size = bytes.size();
  entry->masked_crc32c = MaskedCrc32c(bytes);
  return bytes.empty() ? OkStatus() : data->Append(bytes);
}

Status BundleWriter::State::AppendStrings(const Tensor& tensor, BundleEntry* entry) {
  std::string head;
  uint32_t crc = 0;
  for (const std::string& text : tensor.flat<std::string>()) {
    AppendVarint(&head, text.size());
    crc = ExtendCrcByLength(crc, text.size());
  }
  const uint32_t lengths_crc = MaskCrc32c(crc);
  AppendFixed32(&head, lengths_crc);
  crc = ExtendCrc32c(crc, &lengths_crc, sizeof(lengths_crc));
  RETURN_IF_ERROR(data->Append(head));
  entry->size = head.size();
  for (const std::string& text : tensor.flat<std::string>()) {
    crc = ExtendCrc32c(crc, text.data(), text.size());
    RETURN_IF_ERROR(data->Append(text));
    entry->size += text.size();
  }
  entry->masked_crc32c = MaskCrc32c(crc);
  return OkStatus();
}

Status BundleWriter::State::Store(std::string_view key, const Tensor& tensor, BundleEntry* entry) {
  if (finished || failed) {
    return FailedPreconditionError(
        StrCat("The checkpoint ", prefix, " is finished or has failed; begin a new one"));
  }
  if (!tensor.valid() || tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant) {
    return UnimplementedError(StrCat("Key ", Quoted(key), " of checkpoint ", prefix,
                                     " holds a value of type ", DTypeEnumName(tensor.dtype()),
                                     "; only numbers and strings can be saved"));
  }
  entry->dtype = tensor.dtype();
  entry->shape = tensor.shape();
  entry->offset = offset;
  const Status status = tensor.dtype() == DType::kString ? AppendStrings(tensor, entry)
                                                         : AppendNumbers(tensor, entry);
  failed = !status.ok();
  offset += entry->size;
  return status;
}

Status BundleWriter::Add(std::string_view key, const Tensor& tensor) {
  if (key.empty() || IsPieceKey(key)) {
    return InvalidArgumentError(
        "A key of a checkpoint must not be empty or begin with a zero byte");
  }
  if (state_->entries.contains(key)) {
    return InvalidArgumentError(
        StrCat("Key ", Quoted(key), " was added twice to checkpoint ", state_->prefix));
  }
  BundleEntry entry;
  RETURN_IF_ERROR(state_->Store(key, tensor, &entry));
  state_->entries.emplace(key, std::move(entry));
  return OkStatus();
}

Status BundleWriter::AddSlice(std::string_view key, const Shape& full_shape,
                              const TensorSlice& slice, const Tensor& piece) {
  ASSIGN_OR_RETURN(const Shape shape, slice.ShapeIn(full_shape));
  if (shape != piece.shape()) {
    return InvalidArgumentError(StrCat(
        "Key ", Quoted(key), ": slice ", slice.ToString(), " of shape ", full_shape.ToString(),
        " has shape ", shape.ToString(), ", the piece has ", piece.shape().ToString()));
  }
  const auto known = state_->entries.find(key);
  std::string piece_key = PieceKey(key, slice);
  if (known != state_->entries.end() &&
      (known->second.slices.empty() || known->second.dtype != piece.dtype() ||
       known->second.shape != full_shape || state_->entries.contains(piece_key))) {
    return InvalidArgumentError(StrCat("Key ", Quoted(key), ": slice ", slice.ToString(),
                                       " does not go with what was added before"));
  }
  BundleEntry stored;
  RETURN_IF_ERROR(state_->Store(key, piece, &stored));
  state_->entries.emplace(std::move(piece_key), std::move(stored));
  BundleEntry& whole = state_->entries.try_emplace(std::string(key)).first->second;
  whole.dtype = piece.dtype();
  whole.shape = full_shape;
  whole.slices.push_back(slice);
  return OkStatus();
}

Status BundleWriter::State::WriteIndex() {
  ASSIGN_OR_RETURN(auto file, env->OpenForWriting(index_path));
  TableWriter table(file.get());
  RETURN_IF_ERROR(table.Add("", EncodeBundleHeader(num_shards)));
  for (const auto& [key, entry] : entries) {
    RETURN_IF_ERROR(table.Add(key, EncodeBundleEntry(entry)));
  }
  RETURN_IF_ERROR(table.Finish());
  RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

Status BundleWriter::State::Commit() {
  RETURN_IF_ERROR(data->Sync());
  RETURN_IF_ERROR(data->Close());
  data.reset();
  const std::string directory(Dirname(prefix));
  // Two writers that rename data and index in turns would leave the index of one with the data of
  // the other.
  ASSIGN_OR_RETURN(const auto lock, env->LockDirectory(directory));
  ASSIGN_OR_RETURN(num_shards, NewShardCount(env, prefix));
  RETURN_IF_ERROR(env->Rename(data_path, BundleDataName(prefix, 0, num_shards)));
  for (int shard = 1; shard < num_shards; ++shard) {
    RETURN_IF_ERROR(WriteFile(env, BundleDataName(prefix, shard, num_shards), ""));
  }
  RETURN_IF_ERROR(WriteIndex());
  // The data's names must be on the disk before the index that needs them.
  RETURN_IF_ERROR(env->SyncDirectory(directory));
  RETURN_IF_ERROR(env->Rename(index_path, BundleIndexName(prefix)));
  RETURN_IF_ERROR(env->SyncDirectory(directory));
  RemoveStaleData();
  return OkStatus();
}

void BundleWriter::State::RemoveStaleData() {
  const std::string directory(Dirname(prefix));
  const std::string start = StrCat(Basename(prefix), ".data-");
  const auto names = env->ListDirectory(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(start)) continue;
    bool ours = false;
    for (int shard = 0; shard < num_shards; ++shard) {
      ours |= name == Basename(BundleDataName(prefix, shard, num_shards));
    }
    // What cannot be removed takes room and harms nothing.
    if (!ours) env->RemoveFile(JoinPath(directory, name)).IgnoreError();
  }
}

Status BundleWriter::Finish() {
  if (state_->finished || state_->failed) {
    return FailedPreconditionError(
        StrCat("The checkpoint ", state_->prefix, " is finished or has failed; begin a new one"));
  }
  const Status status = state_->Commit();
  if (!status.ok()) {
    state_->failed = true;
    return status;
  }
  state_->finished = true;
  return OkStatus();
}

}  // namespace slipway
