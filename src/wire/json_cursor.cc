// SPDX-License-Identifier: Apache-2.0
#include "wire/json_cursor.h"

#include <algorithm>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/json_number.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace slipway {
namespace {

constexpr size_t kMaxShownBytes = 256;

bool IsBracketOrQuote(char c) { return c == '"' || c == '[' || c == ']' || c == '{' || c == '}'; }

// The next bracket or quote at or after `at`.
const char* FindBracketOrQuote(const char* at, const char* end) {
#ifdef __SSE2__
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // One bit is all that tells '[' from '{' and ']' from '}'.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i hits = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                                   _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    const int mask = _mm_movemask_epi8(hits);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && !IsBracketOrQuote(*at)) ++at;
  return at;
}

// The next quote, backslash or control character at or after `at`; *non_ascii tells whether bytes
// beyond ASCII were passed.
const char* FindStringEnd(const char* at, const char* end, bool* non_ascii) {
#ifdef __SSE2__
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i hits =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes));
    *non_ascii |= _mm_movemask_epi8(bytes) != 0;
    const int mask = _mm_movemask_epi8(hits);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  for (; at != end && *at != '"' && *at != '\\' && static_cast<uint8_t>(*at) >= 0x20; ++at) {
    *non_ascii |= static_cast<uint8_t>(*at) >= 0x80;
  }
  return at;
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto push = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xe0 | code >> 12);
    } else {
      push(0xf0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3f));
    }
    push(0x80 | (code >> 6 & 0x3f));
  }
  push(0x80 | (code & 0x3f));
}

}  // namespace

Status JsonCursor::Error(std::string_view what) const {
  return InvalidArgumentError(StrCat("JSON Parse error: ", what, " at offset: ", at_ - begin_));
}

Status JsonCursor::ReadString(std::string* scratch, std::string_view* text) {
  const char* start = ++at_;
  bool escaped = false;
  bool non_ascii = false;
  while (true) {
    const char* stop = FindStringEnd(at_, end_, &non_ascii);
    if (escaped) scratch->append(at_, stop);
    at_ = stop;
    if (at_ == end_) return Error("Missing a closing quotation mark in string.");
    if (*at_ == '"') break;
    if (*at_ != '\\') return Error("Invalid encoding in string.");
    if (!escaped) scratch->assign(start, at_);
    escaped = true;
    RETURN_IF_ERROR(Unescape(scratch));
  }
  *text = escaped ? std::string_view(*scratch)
                  : std::string_view(start, static_cast<size_t>(at_ - start));
  if (non_ascii && !IsValidUtf8(*text)) return Error("Invalid encoding in string.");
  ++at_;
  return OkStatus();
}

Status JsonCursor::Unescape(std::string* out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (++at_ == end_) return Error("Missing a closing quotation mark in string.");
  if (*at_ == 'u') return ReadUnicodeEscape(out);
  const size_t which = kNames.find(*at_);
  if (which == std::string_view::npos) return Error("Invalid escape character in string.");
  out->push_back(kMeant[which]);
  ++at_;
  return OkStatus();
}

bool JsonCursor::ReadHex4(uint32_t* code) {
  if (end_ - at_ < 4) return false;
  *code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = *at_;
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      *code = *code << 4 | static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      *code = *code << 4 | static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      return false;
    }
  }
  return true;
}

Status JsonCursor::ReadUnicodeEscape(std::string* out) {
  constexpr std::string_view kBadHex = "Incorrect hex digit after \\u escape in string.";
  constexpr std::string_view kBadPair = "The surrogate pair in string is invalid.";
  uint32_t code = 0;
  ++at_;
  if (!ReadHex4(&code)) return Error(kBadHex);
  if (code >= 0xdc00 && code < 0xe000) return Error(kBadPair);
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    if (!TakeWord("\\u")) return Error(kBadPair);
    if (!ReadHex4(&low)) return Error(kBadHex);
    if (low < 0xdc00 || low >= 0xe000) return Error(kBadPair);
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(code, out);
  return OkStatus();
}

Status JsonCursor::ReadKey(std::string* scratch, std::string_view* key) {
  if (Peek() != '"') return Error("Missing a name for object member.");
  RETURN_IF_ERROR(ReadString(scratch, key));
  if (!Take(':')) return Error("Missing a colon after a name of object member.");
  return OkStatus();
}

StatusOr<bool> JsonCursor::TakeSeparator(char close) {
  const char c = Peek();
  if (c != ',' && c != close) {
    return Error(close == '}' ? "Missing a comma or } after an object member."
                              : "Missing a comma or ] after an array element.");
  }
  ++at_;
  return c == ',';
}

Status JsonCursor::SkipScalar() {
  if (at_ != end_ && *at_ == '"') {
    std::string scratch;
    std::string_view text;
    return ReadString(&scratch, &text);
  }
  if (TakeWord("true") || TakeWord("false") || TakeWord("null")) return OkStatus();
  JsonNumber number;
  const char* after = ReadJsonNumber(at_, end_, &number);
  if (number.kind == JsonNumber::Kind::kInvalid) {
    return Error(at_ == begin_ && at_ == end_ ? "The document is empty." : "Invalid value.");
  }
  if (number.kind == JsonNumber::Kind::kTooLarge) {
    return Error("Number too big to be stored in double.");
  }
  at_ = after;
  return OkStatus();
}

Status JsonCursor::SkipValue() {
  std::string open;  // the closing brackets that are waited for
  std::string scratch;
  std::string_view key;
  while (true) {
    const char c = Peek();
    if (c == '{' || c == '[') {
      ++at_;
      const char close = c == '{' ? '}' : ']';
      if (!Take(close)) {
        open.push_back(close);
        if (c == '{') RETURN_IF_ERROR(ReadKey(&scratch, &key));
        continue;
      }
    } else {
      RETURN_IF_ERROR(SkipScalar());
    }
    while (true) {
      if (open.empty()) return OkStatus();
      ASSIGN_OR_RETURN(const bool more, TakeSeparator(open.back()));
      if (more) break;
      open.pop_back();
    }
    if (open.back() == '}') RETURN_IF_ERROR(ReadKey(&scratch, &key));
  }
}

Status JsonCursor::SkipUnread() {
  const char c = Peek();
  if (c != '{' && c != '[') return SkipScalar();
  int64_t depth = 0;
  while (true) {
    at_ = FindBracketOrQuote(at_, end_);
    if (at_ == end_) {
      return Error(c == '{' ? "Missing a comma or } after an object member."
                            : "Missing a comma or ] after an array element.");
    }
    const char found = *at_++;
    if (found == '"') {
      bool non_ascii = false;
      while ((at_ = FindStringEnd(at_, end_, &non_ascii)) != end_ && *at_ != '"') {
        at_ += *at_ == '\\' && end_ - at_ >= 2 ? 2 : 1;
      }
      if (at_ == end_) return Error("Missing a closing quotation mark in string.");
      ++at_;
    } else {
      depth += found == '{' || found == '[' ? 1 : -1;
      if (depth == 0) return OkStatus();
    }
  }
}

bool JsonCursor::IsBase64Object() const {
  JsonCursor look = *this;
  std::string scratch;
  std::string_view text;
  if (!look.Take('{') || look.Peek() != '"' || !look.ReadString(&scratch, &text).ok()) return false;
  if (text != "b64" || !look.Take(':') || look.Peek() != '"') return false;
  return look.ReadString(&scratch, &text).ok() && look.Take('}');
}

std::string_view JsonCursor::TypeName() const {
  switch (at_ == end_ ? '\0' : *at_) {
    case '{':
      return "Object";
    case '[':
      return "Array";
    case '"':
      return "String";
    case 't':
      return "True";
    case 'f':
      return "False";
    case 'n':
      return "Null";
    default:
      return "Number";
  }
}

std::string JsonCursor::ValueText() const {
  JsonCursor look(
      std::string_view(at_, std::min(static_cast<size_t>(end_ - at_), kMaxShownBytes + 1)));
  const bool whole = look.SkipUnread().ok();
  const auto size = static_cast<size_t>(look.at_ - at_);
  if (whole && size <= kMaxShownBytes) return std::string(at_, size);
  std::string text(at_, std::min(static_cast<size_t>(end_ - at_), kMaxShownBytes));
  // Not within a character.
  while (!text.empty() && !IsValidUtf8(text)) text.pop_back();
  return text + "...";
}

}  // namespace slipway
