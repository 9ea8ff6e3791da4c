// SPDX-License-Identifier: Apache-2.0
#include "wire/coding.h"

#include <bit>

#include "base/strings.h"

namespace slipway {

bool ReadLongVarint(const char** at, const char* end, uint64_t* value) {
  const char* p = *at;
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (p == end) return false;
    const uint64_t byte = static_cast<uint8_t>(*p++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      *at = p;
      return true;
    }
  }
  return false;
}

bool IsValidUtf8(std::string_view bytes) {
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto* end = p + bytes.size();
  while (p != end) {
    if (end - p >= 8 && (LoadFixed64(p) & 0x8080808080808080u) == 0) {
      p += 8;
      continue;
    }
    const uint8_t lead = *p++;
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - p < more) return false;
    // The second byte has a narrower range after some lead bytes: overlong forms, surrogates and
    // what lies beyond U+10FFFF.
    const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (p[0] < low || p[0] > high) return false;
    for (int i = 1; i < more; ++i) {
      if ((p[i] & 0xc0) != 0x80) return false;
    }
    p += more;
  }
  return true;
}

bool ProtoReader::Fail() {
  malformed_ = true;
  at_ = end_;
  return false;
}

bool ProtoReader::Next() {
  if (at_ == end_) return false;
  field_start_ = at_;
  if (!ReadVarint(&at_, end_, &tag_) || tag_ >> 3 == 0 || tag_ >> 32 != 0) return Fail();
  const auto left = static_cast<uint64_t>(end_ - at_);
  switch (tag_ & 7) {
    case 0:
      return ReadVarint(&at_, end_, &value_) || Fail();
    case 1:
      if (left < 8) return Fail();
      value_ = LoadFixed64(at_);
      at_ += 8;
      return true;
    case 2: {
      uint64_t size = 0;
      if (!ReadVarint(&at_, end_, &size) || size > static_cast<uint64_t>(end_ - at_)) return Fail();
      bytes_ = {at_, static_cast<size_t>(size)};
      at_ += size;
      return true;
    }
    case 3:
      return SkipGroup() || Fail();
    case 5:
      if (left < 4) return Fail();
      value_ = LoadFixed32(at_);
      at_ += 4;
      return true;
    default:
      return Fail();
  }
}

// Counts how deep it is instead of recursing, and does not compare the field numbers of the ends.
bool ProtoReader::SkipGroup() {
  const uint64_t group_tag = tag_;
  for (int64_t depth = 1; depth > 0;) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!ReadVarint(&at_, end_, &tag)) return false;
    switch (tag & 7) {
      case 0:
        if (!ReadVarint(&at_, end_, &value)) return false;
        break;
      case 1:
        if (end_ - at_ < 8) return false;
        at_ += 8;
        break;
      case 2:
        if (!ReadVarint(&at_, end_, &value) || value > static_cast<uint64_t>(end_ - at_)) {
          return false;
        }
        at_ += value;
        break;
      case 3:
        ++depth;
        break;
      case 4:
        --depth;
        break;
      case 5:
        if (end_ - at_ < 4) return false;
        at_ += 4;
        break;
      default:
        return false;
    }
  }
  tag_ = group_tag;
  return true;
}

float ProtoReader::float32() const { return std::bit_cast<float>(fixed32()); }
double ProtoReader::float64() const { return std::bit_cast<double>(value_); }

Status ProtoReader::status(std::string_view message) const {
  if (!malformed_) return OkStatus();
  return InvalidArgumentError(StrCat("Malformed ", message, ": the field at byte ",
                                     field_start_ - begin_, " of ", end_ - begin_,
                                     " is cut short or has a wrong type"));
}

void ProtoWriter::Float(uint32_t field, float value) {
  Fixed32(field, std::bit_cast<uint32_t>(value));
}
void ProtoWriter::Double(uint32_t field, double value) {
  Fixed64(field, std::bit_cast<uint64_t>(value));
}

size_t ProtoWriter::BeginMessage(uint32_t field, size_t expected_size) {
  AppendVarint(out_, BytesField(field));
  const auto reserved = static_cast<size_t>(VarintSize(expected_size));
  const size_t at = out_->size();
  out_->append(reserved, '\0');
  return at << 4 | reserved;
}

void ProtoWriter::EndMessage(size_t begun) {
  const size_t at = begun >> 4;
  const size_t reserved = begun & 15;
  const size_t size = out_->size() - at - reserved;
  char length[kMaxVarintBytes];
  const auto needed = static_cast<size_t>(WriteVarint(length, size) - length);
  if (needed != reserved) {
    out_->replace(at, reserved, length, needed);
  } else {
    std::memcpy(out_->data() + at, length, needed);
  }
}

}  // namespace slipway
