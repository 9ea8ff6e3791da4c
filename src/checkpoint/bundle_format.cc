// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/bundle_format.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/crc32c.h"
#include "wire/tensor_proto.h"

namespace slipway {

std::string BundleIndexName(std::string_view prefix) { return StrCat(prefix, ".index"); }

std::string BundleDataName(std::string_view prefix, int shard, int num_shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", shard, num_shards);
  return StrCat(prefix, suffix);
}

StatusOr<BundleHeader> DecodeBundleHeader(std::string_view bytes) {
  BundleHeader header;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case VarintField(1):
        header.num_shards = reader.int32();
        break;
      case VarintField(2):
        header.big_endian = reader.varint() != 0;
        break;
      case BytesField(3): {
        ProtoReader version(reader.bytes());
        while (version.Next()) {
          if (version.tag() == VarintField(2)) header.min_consumer = version.int64();
        }
        RETURN_IF_ERROR(version.status("VersionDef"));
        break;
      }
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("BundleHeaderProto"));
  return header;
}

std::string EncodeBundleHeader(int32_t num_shards) {
  std::string out;
  ProtoWriter writer(&out);
  writer.Int64(1, num_shards);
  const size_t version = writer.BeginMessage(3);
  writer.Int64(1, kBundleVersion);
  writer.EndMessage(version);
  return out;
}

namespace {

StatusOr<TensorSlice> DecodeSlice(std::string_view bytes) {
  TensorSlice slice;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() != BytesField(1)) continue;
    TensorSlice::Extent extent;
    ProtoReader part(reader.bytes());
    while (part.Next()) {
      if (part.tag() == VarintField(1)) extent.start = part.int64();
      if (part.tag() == VarintField(2)) extent.length = part.int64();
    }
    RETURN_IF_ERROR(part.status("TensorSliceProto.Extent"));
    slice.extents.push_back(extent);
  }
  RETURN_IF_ERROR(reader.status("TensorSliceProto"));
  return slice;
}

void AppendSlice(const TensorSlice& slice, ProtoWriter* writer) {
  const size_t message = writer->BeginMessage(7);
  for (const TensorSlice::Extent& extent : slice.extents) {
    const size_t part = writer->BeginMessage(1);
    if (extent.length >= 0) {
      if (extent.start != 0) writer->Int64(1, extent.start);
      writer->Int64(2, extent.length);
    }
    writer->EndMessage(part);
  }
  writer->EndMessage(message);
}

}  // namespace

StatusOr<BundleEntry> DecodeBundleEntry(std::string_view bytes) {
  BundleEntry entry;
  PartialShape shape{};
  shape = PartialShape(std::vector<int64_t>());
  int64_t offset = 0;
  int64_t size = 0;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case VarintField(1):
        entry.dtype = DTypeFromNumber(reader.int64()).value_or(DType::kInvalid);
        break;
      case BytesField(2): {
        ASSIGN_OR_RETURN(shape, DecodeShapeProto(reader.bytes()));
        break;
      }
      case VarintField(3):
        entry.shard = reader.int32();
        break;
      case VarintField(4):
        offset = reader.int64();
        break;
      case VarintField(5):
        size = reader.int64();
        break;
      case Fixed32Field(6):
        entry.masked_crc32c = reader.fixed32();
        break;
      case BytesField(7): {
        ASSIGN_OR_RETURN(TensorSlice slice, DecodeSlice(reader.bytes()));
        entry.slices.push_back(std::move(slice));
        break;
      }
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("BundleEntryProto"));
  if (offset < 0 || size < 0 || offset > std::numeric_limits<int64_t>::max() - size) {
    return InvalidArgumentError(StrCat("An entry of ", size, " bytes at offset ", offset));
  }
  entry.offset = static_cast<uint64_t>(offset);
  entry.size = static_cast<uint64_t>(size);
  if (!shape.has_rank()) return InvalidArgumentError("An entry has a shape of unknown rank");
  ASSIGN_OR_RETURN(entry.shape, Shape::FromDims(shape.dims()));
  return entry;
}

std::string EncodeBundleEntry(const BundleEntry& entry) {
  std::string out;
  ProtoWriter writer(&out);
  writer.Varint(1, static_cast<uint64_t>(entry.dtype));
  writer.BytesHeader(2, ShapeProtoSize(entry.shape));
  AppendShapeProto(entry.shape, &out);
  if (entry.shard != 0) writer.Int64(3, entry.shard);
  if (entry.offset != 0) writer.Varint(4, entry.offset);
  if (entry.size != 0) writer.Varint(5, entry.size);
  if (entry.masked_crc32c != 0) writer.Fixed32(6, entry.masked_crc32c);
  for (const TensorSlice& slice : entry.slices) AppendSlice(slice, &writer);
  return out;
}

namespace {

// Encodings whose bytewise order is the order of the values.

// The number of bytes, then the number big-endian.
void AppendOrderedUnsigned(std::string* out, uint64_t value) {
  const int bytes = (64 - __builtin_clzll(value | 1) + 7) / 8;
  const int count = value == 0 ? 0 : bytes;
  out->push_back(static_cast<char>(count));
  for (int i = count - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Zero bytes and 0xff bytes are escaped, and "\0\1" ends the text.
void AppendOrderedText(std::string* out, std::string_view text) {
  for (char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append("\0\1", 2);
}

// Two's complement, big-endian, in as many bytes as hold 7 bits each; the leading bits say how
// many those are: ones for a number that is not negative, zeros for a negative one.
void AppendOrderedSigned(std::string* out, int64_t value) {
  const uint64_t magnitude =
      value < 0 ? ~static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int bits = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  const int length = bits / 7 + 1;
  // Sign-extended to the ten bytes that the longest encoding has.
  char wide[10];
  const char sign = value < 0 ? '\xff' : '\0';
  wide[0] = wide[1] = sign;
  for (int i = 0; i < 8; ++i) {
    wide[2 + i] = static_cast<char>(static_cast<uint64_t>(value) >> (56 - 8 * i));
  }
  char* begin = wide + 10 - length;
  // The `length` leading bits (of one or two bytes) are flipped.
  const uint32_t header = 0xffffu << (16 - length) & 0xffffu;
  begin[0] = static_cast<char>(begin[0] ^ static_cast<char>(header >> 8));
  if (length > 8) begin[1] = static_cast<char>(begin[1] ^ static_cast<char>(header & 0xff));
  out->append(begin, static_cast<size_t>(length));
}

}  // namespace

std::string PieceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendOrderedUnsigned(&key, 0);
  AppendOrderedText(&key, name);
  AppendOrderedUnsigned(&key, slice.extents.size());
  for (const TensorSlice::Extent& extent : slice.extents) {
    AppendOrderedSigned(&key, extent.length < 0 ? 0 : extent.start);
    AppendOrderedSigned(&key, extent.length < 0 ? -1 : extent.length);
  }
  return key;
}

uint32_t ExtendCrcByLength(uint32_t crc, uint64_t length) {
  const bool is_short = length <= std::numeric_limits<uint32_t>::max();
  return ExtendCrc32c(crc, &length, is_short ? 4 : 8);
}

}  // namespace slipway
