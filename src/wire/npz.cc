// SPDX-License-Identifier: Apache-2.0
//
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT: the directory at the end names every
// member, its sizes and where its own header lies.
#include "wire/npz.h"

#include <zlib.h>

#include <algorithm>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/npy.h"

namespace slipway {
namespace {

constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kEntryMark = "PK\x01\x02";
constexpr std::string_view kMemberMark = "PK\x03\x04";
constexpr size_t kEndSize = 22;
constexpr size_t kEntrySize = 46;
constexpr size_t kMemberSize = 30;
constexpr uint32_t kInZip64 = 0xffffffff;

uint32_t LoadFixed16(const char* from) {
  return static_cast<uint32_t>(static_cast<unsigned char>(from[0]) |
                               (static_cast<unsigned char>(from[1]) << 8));
}

struct Member {
  std::string_view name;
  uint32_t method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

Status Damaged(std::string_view why) {
  return InvalidArgumentError(StrCat("Not a .npz file that can be read: ", why));
}

// Behind the archive's end may stand a comment of up to 65,535 bytes.
StatusOr<size_t> FindEnd(std::string_view bytes) {
  if (bytes.size() < kEndSize) return Damaged("it is too short for a ZIP archive");
  const size_t from = bytes.size() - kEndSize;
  const size_t at = bytes.rfind(kEndMark, from);
  if (at == std::string_view::npos || from - at > 0xffff) {
    return Damaged("a ZIP archive's end is missing");
  }
  return at;
}

// Sizes that do not fit into 32 bits (numpy writes small ones so, too, when it streams) stand in an
// extra field.
Status ReadZip64(std::string_view extra, Member* member) {
  while (extra.size() >= 4) {
    const uint32_t id = LoadFixed16(extra.data());
    const size_t size = LoadFixed16(extra.data() + 2);
    extra.remove_prefix(4);
    if (size > extra.size()) return Damaged("an extra field is cut off");
    std::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != 1) continue;
    for (uint64_t* value : {&member->size, &member->packed, &member->offset}) {
      if (*value != kInZip64) continue;
      if (field.size() < 8) return Damaged("a ZIP64 field is cut off");
      *value = LoadFixed64(field.data());
      field.remove_prefix(8);
    }
  }
  return OkStatus();
}

StatusOr<std::vector<Member>> ReadDirectory(std::string_view bytes, const NpzOptions& options) {
  ASSIGN_OR_RETURN(const size_t end, FindEnd(bytes));
  const uint64_t count = LoadFixed16(bytes.data() + end + 10);
  const uint64_t begin = LoadFixed32(bytes.data() + end + 16);
  if (count > options.max_members) {
    return ResourceExhaustedError(StrCat("A .npz file of ", count, " arrays"));
  }
  if (begin > end) return Damaged("its directory lies outside it");
  std::string_view rest = bytes.substr(begin, end - begin);
  std::vector<Member> members;
  for (uint64_t i = 0; i < count; ++i) {
    if (rest.size() < kEntrySize || !rest.starts_with(kEntryMark)) {
      return Damaged("its directory is cut off");
    }
    const char* p = rest.data();
    if ((LoadFixed16(p + 8) & 1) != 0) return Damaged("it is encrypted");
    Member member;
    member.method = LoadFixed16(p + 10);
    member.crc = LoadFixed32(p + 16);
    member.packed = LoadFixed32(p + 20);
    member.size = LoadFixed32(p + 24);
    member.offset = LoadFixed32(p + 42);
    const size_t name = LoadFixed16(p + 28);
    const size_t extra = LoadFixed16(p + 30);
    const size_t total = kEntrySize + name + extra + LoadFixed16(p + 32);
    if (total > rest.size()) return Damaged("its directory is cut off");
    member.name = rest.substr(kEntrySize, name);
    RETURN_IF_ERROR(ReadZip64(rest.substr(kEntrySize + name, extra), &member));
    members.push_back(member);
    rest.remove_prefix(total);
  }
  return members;
}

StatusOr<std::string_view> PackedBytes(std::string_view bytes, const Member& member) {
  if (member.offset > bytes.size() || bytes.size() - member.offset < kMemberSize ||
      !bytes.substr(member.offset).starts_with(kMemberMark)) {
    return Damaged("an array lies outside it");
  }
  const char* p = bytes.data() + member.offset;
  const uint64_t begin = member.offset + kMemberSize + LoadFixed16(p + 26) + LoadFixed16(p + 28);
  if (begin > bytes.size() || member.packed > bytes.size() - begin) {
    return Damaged("an array is cut off");
  }
  return bytes.substr(begin, member.packed);
}

// Memory grows with what really comes out, not with what is declared.
StatusOr<std::string> Inflate(std::string_view packed, uint64_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return ResourceExhaustedError("inflate");
  std::string out;
  int result = Z_OK;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  size_t left = packed.size();
  while (result == Z_OK) {
    const size_t room = std::min<uint64_t>(size - out.size() + 1, uint64_t{1} << 20);
    const size_t before = out.size();
    out.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    const auto given = static_cast<uInt>(std::min<size_t>(left, 1 << 30));
    stream.avail_in = given;
    result = inflate(&stream, Z_NO_FLUSH);
    left -= given - stream.avail_in;
    out.resize(before + room - stream.avail_out);
    if (out.size() > size) break;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || out.size() != size) {
    return Damaged("an array does not inflate to its size");
  }
  return out;
}

std::string_view ArrayName(std::string_view member) {
  if (member.ends_with(".npy")) member.remove_suffix(4);
  return member;
}

StatusOr<Tensor> DecodeMember(std::string_view bytes, const Member& member,
                              const NpzOptions& options) {
  if (member.size > options.max_member_bytes) {
    return ResourceExhaustedError(
        StrCat("an array of ", member.size, " bytes; the limit is ", options.max_member_bytes));
  }
  ASSIGN_OR_RETURN(const std::string_view packed, PackedBytes(bytes, member));
  std::string inflated;
  std::string_view data = packed;
  if (member.method == 8) {
    ASSIGN_OR_RETURN(inflated, Inflate(packed, member.size));
    data = inflated;
  } else if (member.method != 0) {
    return Damaged(StrCat("compression method ", member.method, "; only deflate is known"));
  }
  if (data.size() != member.size) return Damaged("an array has not the size that is declared");
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
  if (crc != member.crc) return Damaged("an array's checksum does not match");
  return DecodeNpy(data, {.max_bytes = options.max_member_bytes});
}

}  // namespace

StatusOr<std::vector<std::string>> ListNpz(std::string_view bytes, const NpzOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Member> members, ReadDirectory(bytes, options));
  std::vector<std::string> names;
  for (const Member& member : members) names.emplace_back(ArrayName(member.name));
  return names;
}

StatusOr<Tensor> DecodeNpz(std::string_view bytes, std::string_view name,
                           const NpzOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Member> members, ReadDirectory(bytes, options));
  std::vector<std::string> names;
  for (const Member& member : members) {
    if (!name.empty() && ArrayName(member.name) == name) {
      return DecodeMember(bytes, member, options);
    }
    names.push_back(Quoted(ArrayName(member.name)));
  }
  if (name.empty() && members.size() == 1) return DecodeMember(bytes, members[0], options);
  const std::string there = names.empty() ? "none" : StrJoin(names, ", ");
  if (!name.empty()) {
    return NotFoundError(StrCat("A .npz file has no array ", Quoted(name), "; there are: ", there));
  }
  return InvalidArgumentError(
      StrCat("A .npz file holds ", members.size(), " arrays; name one of ", there));
}

StatusOr<Tensor> ReadNpz(Env* env, const std::string& path, std::string_view name,
                         const NpzOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(env, path, options.max_bytes));
  StatusOr<Tensor> tensor = DecodeNpz(bytes, name, options);
  if (!tensor.ok()) return tensor.status().WithContext(path);
  return tensor;
}

}  // namespace slipway
