// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's tensor bundles (checkpoints "V2"): PREFIX.index, a table from keys to where each
// tensor lies, and PREFIX.data-SSSSS-of-NNNNN, the tensors' bytes. What tf.train.Checkpoint, Keras
// and SavedModels (variables/variables) hold; either side reads what the other wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

// A box within a tensor, one extent a dimension.
struct TensorSlice {
  struct Extent {
    int64_t start = 0;
    int64_t length = -1;  // -1: the whole dimension (start is 0 then)
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  std::vector<Extent> extents;

  // The form of RestoreV2's shape_and_slices after the shape: "0,2:-" (start,length; "-" is all).
  static StatusOr<TensorSlice> Parse(std::string_view text);
  // "[0:2,:]", for messages.
  std::string ToString() const;
  // The slice's own shape in a tensor of `shape`; INVALID_ARGUMENT if it does not lie within.
  StatusOr<Shape> ShapeIn(const Shape& shape) const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

struct BundleEntry {
  DType dtype = DType::kInvalid;
  Shape shape;
  int32_t shard = 0;
  uint64_t offset = 0;              // in the shard's file; any alignment
  uint64_t size = 0;                // bytes there
  uint32_t masked_crc32c = 0;       // of those bytes
  std::vector<TensorSlice> slices;  // not empty: the tensor is stored in these pieces instead
};

// Thread safety: all const methods from any thread.
class BundleReader {
 public:
  struct Options {
    bool verify_checksums = true;
    Allocator* allocator = nullptr;
  };
  // Reads the index; shards are opened when first needed. NOT_FOUND when the index is missing
  // (the message names PREFIX.index), DATA_LOSS when it is damaged, UNIMPLEMENTED for a big-endian
  // bundle or a later format version.
  static StatusOr<std::unique_ptr<BundleReader>> Open(Env* env, const std::string& prefix,
                                                      Options options);
  static StatusOr<std::unique_ptr<BundleReader>> Open(Env* env, const std::string& prefix) {
    return Open(env, prefix, Options());
  }
  ~BundleReader();

  int num_shards() const;
  // All tensors by key, whole ones and partitioned ones (not the pieces of those).
  const std::map<std::string, BundleEntry, std::less<>>& entries() const;
  // NOT_FOUND names the key, the prefix and the nearest key.
  StatusOr<const BundleEntry*> Find(std::string_view key) const;

  // The whole tensor, put together if it is partitioned. NOT_FOUND for an unknown key or a missing
  // shard; DATA_LOSS names file and key for a short shard, a wrong checksum, a size that does not
  // fit dtype and shape. Reserves no more memory than the shard holds bytes (strings: a constant
  // factor more).
  StatusOr<Tensor> Read(std::string_view key) const;
  // The part of it that `slice` names; only the stored pieces that overlap are read.
  StatusOr<Tensor> ReadSlice(std::string_view key, const TensorSlice& slice) const;

  // Calls visit for everything that has bytes in a shard: whole tensors and, under keys of the
  // format's own making, pieces of partitioned ones. Stops at its first error.
  using StoredVisitor = std::function<Status(std::string_view key, const BundleEntry& entry)>;
  Status ForEachStored(const StoredVisitor& visit) const;

 private:
  struct State;
  explicit BundleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Writes a bundle of one shard's worth of data. Not thread safe.
//
// The existing bundle at the prefix, if any, stays whole until the new one is, wherever the
// program is killed:
//   1. Data goes to a temporary file beside; it is synced in Finish, then renamed to its final
//   name.
//      That name is never one that the existing index uses: the number of shards in the names
//      (and in the index) is 1, or 2 (the second shard then is an empty file) if the existing
//      index already says 1. So the old index cannot come to point at new data.
//   2. The index goes to a temporary file and is synced. Renaming it to PREFIX.index is the moment
//      from which the new bundle is the one that is read.
//   3. Data files that the new index does not use are removed. Killed before that, they are
//      harmless and the next writer removes them.
// Several writers, of one process or more, may write one prefix: temporary files are each writer's
// own, Finish holds the directory (Env::LockDirectory), and the bundle is that of one of them. What
// killed writers left in the directory is removed by the next (base/temporary.h).
// An error (a full disk: RESOURCE_EXHAUSTED) or destruction before Finish removes the temporary
// files and leaves the old bundle.
class BundleWriter {
 public:
  // Makes the directory if needed.
  static StatusOr<std::unique_ptr<BundleWriter>> Create(Env* env, const std::string& prefix);
  ~BundleWriter();

  // Appends the tensor; keys in any order, each once. INVALID_ARGUMENT for an empty or repeated
  // key; UNIMPLEMENTED for resources and variants. After an error only destruction is left.
  Status Add(std::string_view key, const Tensor& tensor);
  // One piece of a tensor of `full_shape`; pieces of one key must not overlap and must be one
  // dtype.
  Status AddSlice(std::string_view key, const Shape& full_shape, const TensorSlice& slice,
                  const Tensor& piece);
  Status Finish();

 private:
  struct State;
  explicit BundleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether the bundle is there, whole: the index parses and every shard is as long as its entries
// need; with `checksums` all data is read and compared too. OK, NOT_FOUND (index or a shard is
// missing: perhaps still being copied) or DATA_LOSS; the message names the file.
struct VerifyBundleOptions {
  bool checksums = false;
};
Status VerifyBundle(Env* env, const std::string& prefix, const VerifyBundleOptions& options = {});

std::string BundleIndexName(std::string_view prefix);
std::string BundleDataName(std::string_view prefix, int shard, int num_shards);

}  // namespace slipway
