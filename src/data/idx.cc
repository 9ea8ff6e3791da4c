// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "slipway/data.h"

namespace slipway::data {
namespace {

std::optional<DType> TypeOf(uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::kUInt8;
    case 0x09:
      return DType::kInt8;
    case 0x0b:
      return DType::kInt16;
    case 0x0c:
      return DType::kInt32;
    case 0x0d:
      return DType::kFloat;
    case 0x0e:
      return DType::kDouble;
    default:
      return std::nullopt;
  }
}

// Hands out the file's bytes, decompressed if they are gzipped, straight to where they belong.
class ByteSource {
 public:
  explicit ByteSource(std::string_view bytes) : bytes_(bytes) {
    gzipped_ = bytes.starts_with("\x1f\x8b");
    if (!gzipped_) return;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), UINT32_MAX));
    open_ = ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~ByteSource() {
    if (open_) inflateEnd(&stream_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // How many bytes there were, at most n.
  size_t Read(void* out, size_t n) {
    if (!gzipped_) {
      const size_t got = std::min(n, bytes_.size());
      if (got > 0) std::memcpy(out, bytes_.data(), got);
      bytes_.remove_prefix(got);
      return got;
    }
    size_t got = 0;
    while (ready_ && got < n) {
      const size_t room = std::min<size_t>(n - got, 1u << 30);
      stream_.next_out = static_cast<Bytef*>(out) + got;
      stream_.avail_out = static_cast<uInt>(room);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      got += room - stream_.avail_out;
      if (result == Z_STREAM_END) {
        ready_ = NextMember();
      } else if (result != Z_OK) {
        Fail();
      }
    }
    return got;
  }

  // What is wrong with the compression, checksums included; empty if nothing, or not noticed yet.
  // Known for the whole file once Read gave less than it was asked for.
  const std::string& damage() const { return damage_; }

 private:
  // A gzip file may be several, one after the other. Zeros at the end are padding.
  bool NextMember() {
    const std::string_view rest(reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in);
    if (rest.find_first_not_of('\0') == std::string_view::npos) return false;
    if (rest.starts_with("\x1f\x8b")) return inflateReset(&stream_) == Z_OK;
    damage_ = StrCat("its gzip data is followed by ", rest.size(), " bytes of something else");
    return false;
  }

  void Fail() {
    ready_ = false;
    damage_ = stream_.avail_in == 0 && stream_.msg == nullptr
                  ? std::string("its gzip data is cut off")
                  : StrCat("its gzip data is damaged: ",
                           stream_.msg != nullptr ? stream_.msg : "it does not inflate");
  }

  std::string_view bytes_;
  bool gzipped_ = false;
  bool open_ = false;   // zlib holds memory
  bool ready_ = false;  // there may be more to inflate
  std::string damage_;
  z_stream stream_{};
};

void SwapBytes(Tensor* t) {
  const size_t width = DTypeSize(t->dtype());
  if (width == 1) return;
  auto* bytes = static_cast<char*>(t->raw_data());
  for (size_t i = 0; i < t->byte_size(); i += width) std::reverse(bytes + i, bytes + i + width);
}

struct Header {
  DType dtype;
  Shape shape;
};

StatusOr<Header> ReadHeader(ByteSource* source, const std::string& name, uint64_t limit) {
  unsigned char magic[4];
  if (source->Read(magic, 4) != 4) {
    return DataLossError(StrCat(name, " is truncated: an IDX file begins with 4 bytes of magic"));
  }
  const std::optional<DType> dtype = TypeOf(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype || magic[3] == 0) {
    return DataLossError(
        StrCat(name, " is no IDX file: its magic is ",
               Quoted(std::string_view(reinterpret_cast<const char*>(magic), 4)),
               ", wanted two zero bytes, a type (8 to 14) and a number of dimensions"));
  }
  Shape shape;
  uint64_t bytes = DTypeSize(*dtype);
  for (int i = 0; i < magic[3]; ++i) {
    unsigned char size[4];
    if (source->Read(size, 4) != 4) {
      return DataLossError(
          StrCat(name, " is truncated in the sizes of its ", int{magic[3]}, " dimensions"));
    }
    const uint32_t dim =
        (uint32_t{size[0]} << 24) | (uint32_t{size[1]} << 16) | (uint32_t{size[2]} << 8) | size[3];
    shape.AddDim(dim);
    if (__builtin_mul_overflow(bytes, uint64_t{dim}, &bytes) || bytes > limit) {
      return DataLossError(
          StrCat(name, " claims the shape ", shape.ToString(), ", more than ", limit, " bytes"));
    }
  }
  return Header{*dtype, std::move(shape)};
}

}  // namespace

StatusOr<Tensor> ParseIdx(std::string_view bytes, const std::string& name, uint64_t limit) {
  ByteSource source(bytes);
  auto damaged = [&](Status otherwise) {
    if (source.damage().empty()) return otherwise;
    return DataLossError(StrCat(name, " is damaged: ", source.damage()));
  };
  const StatusOr<Header> read = ReadHeader(&source, name, limit);
  if (!read.ok()) return damaged(read.status());
  const Header& header = *read;
  // Deflate packs at most about 1,030 to one: a header that promises more is not believed.
  const uint64_t wanted =
      static_cast<uint64_t>(header.shape.num_elements()) * DTypeSize(header.dtype);
  if (wanted > bytes.size() * uint64_t{1100}) {
    return DataLossError(StrCat(name, " is truncated: ", bytes.size(), " bytes cannot hold a ",
                                DTypeName(header.dtype), header.shape.ToString()));
  }
  ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(header.dtype, header.shape));
  const size_t got = source.Read(t.raw_data(), t.byte_size());
  if (got != t.byte_size()) {
    return damaged(DataLossError(StrCat(name, " is truncated or damaged: it has ", got, " of the ",
                                        t.byte_size(), " bytes of its ", DTypeName(header.dtype),
                                        header.shape.ToString())));
  }
  char extra;
  if (source.Read(&extra, 1) != 0) {
    return DataLossError(
        StrCat(name, " goes on after its ", DTypeName(header.dtype), header.shape.ToString()));
  }
  RETURN_IF_ERROR(damaged(OkStatus()));
  SwapBytes(&t);
  return t;
}

StatusOr<Tensor> ReadIdx(Env* env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(env, path));
  return ParseIdx(bytes, path);
}

StatusOr<Tensor> ReadIdx(const std::string& path) { return ReadIdx(Env::Default(), path); }

}  // namespace slipway::data
