// SPDX-License-Identifier: Apache-2.0
//
// Fingerprints and hash buckets. The values are kept in trained models, so they are exact.
#include "kernels/string_hashes.h"

#include <farmhash.h>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"
#include "wire/coding.h"

namespace slipway::kernels {

uint64_t Fingerprint64(std::string_view bytes) {
  return util::Fingerprint64(bytes.data(), bytes.size());
}

uint64_t FingerprintCat64(uint64_t a, uint64_t b) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL;
  const auto mix = [](uint64_t value) { return value ^ (value >> 47); };
  uint64_t result = a ^ kMultiplier;
  result ^= mix(b * kMultiplier) * kMultiplier;
  result *= kMultiplier;
  return mix(mix(result) * kMultiplier);
}

namespace {

uint64_t Rotated(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }

struct SipState {
  uint64_t v0, v1, v2, v3;
  void Round() {
    v0 += v1;
    v2 += v3;
    v1 = Rotated(v1, 13) ^ v0;
    v3 = Rotated(v3, 16) ^ v2;
    v0 = Rotated(v0, 32) + v3;
    v2 += v1;
    v1 = Rotated(v1, 17) ^ v2;
    v3 = Rotated(v3, 21) ^ v0;
    v2 = Rotated(v2, 32);
  }
  void Take(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

// Up to seven bytes, little-endian.
uint64_t TailWord(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

}  // namespace

uint64_t SipHash(const SipKey& key, std::string_view bytes) {
  SipState s{key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
             key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL};
  const uint64_t length = uint64_t{bytes.size()} << 56;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) s.Take(LoadFixed64(bytes.data()));
  s.Take(length | TailWord(bytes));
  s.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) s.Round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

namespace {

// MurmurHash64A with the seed of TensorFlow's Hash64.
uint64_t MurmurHash(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL;
  constexpr uint64_t kSeed = 0xDECAFCAFFE;
  uint64_t hash = kSeed ^ (bytes.size() * kMultiplier);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = LoadFixed64(bytes.data()) * kMultiplier;
    word = (word ^ (word >> 47)) * kMultiplier;
    hash = (hash ^ word) * kMultiplier;
  }
  if (!bytes.empty()) hash = (hash ^ TailWord(bytes)) * kMultiplier;
  hash = (hash ^ (hash >> 47)) * kMultiplier;
  return hash ^ (hash >> 47);
}

template <typename Hash>
StatusOr<KernelFn> IntoBuckets(const ir::Node& node, Hash hash) {
  ASSIGN_OR_RETURN(const int64_t buckets, node.Attr<int64_t>("num_buckets"));
  if (buckets < 1) return InvalidArgumentError(StrCat("num_buckets is ", buckets, "; wanted > 0"));
  return KernelFn([hash, count = static_cast<uint64_t>(buckets)](KernelContext& ctx) {
    return MapStrings<int64_t>(
        ctx, [&](const std::string& text) { return static_cast<int64_t>(hash(text) % count); });
  });
}

StatusOr<KernelFn> BindFast(const BindContext& c) { return IntoBuckets(*c.node, Fingerprint64); }
StatusOr<KernelFn> BindLegacy(const BindContext& c) { return IntoBuckets(*c.node, MurmurHash); }
StatusOr<KernelFn> BindStrong(const BindContext& c) {
  ASSIGN_OR_RETURN(const auto words, c.node->Attr<std::vector<int64_t>>("key"));
  if (words.size() != 2) return InvalidArgumentError("Key must have 2 elements");
  const SipKey key = {static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1])};
  return IntoBuckets(*c.node, [key](const std::string& text) { return SipHash(key, text); });
}

// The fingerprint of one row of `data`, whose rows have `width` elements.
uint64_t RowFingerprint(const Tensor& data, int64_t row, int64_t width) {
  const auto count = static_cast<size_t>(width), first = static_cast<size_t>(row * width);
  if (data.dtype() != DType::kString) {
    const size_t size = DTypeSize(data.dtype());
    return Fingerprint64({static_cast<const char*>(data.raw_data()) + first * size, count * size});
  }
  const auto texts = data.flat<std::string>().subspan(first, count);
  if (count == 1) return Fingerprint64(texts[0]);
  std::string all;
  for (const std::string& text : texts) AppendFixed64(&all, Fingerprint64(text));
  return Fingerprint64(all);
}

Status RunFingerprint(KernelContext& c) {
  const Tensor &data = c.input(0), &method = c.input(1);
  if (data.rank() < 1) {
    return InvalidArgumentError("`data` should have at least one dimension.");
  }
  if (method.rank() != 0) {
    return InvalidArgumentError(
        StrCat("`method` should be a scalar string: ", method.shape().ToString()));
  }
  if (method.flat<std::string>()[0] != "farmhash64") {
    return InvalidArgumentError(
        StrCat("Unsupported fingerprint method: ", Quoted(method.flat<std::string>()[0]),
               "; wanted farmhash64"));
  }
  const int64_t rows = data.dim(0);
  const int64_t width = rows == 0 ? 0 : data.num_elements() / rows;
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape({rows, 8})));
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t value = RowFingerprint(data, row, width);
    std::memcpy(out->flat<uint8_t>().data() + row * 8, &value, sizeof(value));
  }
  return OkStatus();
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> hashable = NumberTypes();
  for (DType dtype :
       {DType::kBool, DType::kString, DType::kComplex64, DType::kComplex128, DType::kQInt8,
        DType::kQUInt8, DType::kQInt16, DType::kQUInt16, DType::kQInt32}) {
    hashable.push_back(dtype);
  }
  return MakeKernels({
      {"StringToHashBucketFast", BindFast},
      {"StringToHashBucketStrong", BindStrong},
      {"StringToHashBucket", BindLegacy},
      {"Fingerprint", BindRun<RunFingerprint>, hashable},
  });
}

}  // namespace

std::span<const KernelDef> StringHashKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
