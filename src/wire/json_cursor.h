// SPDX-License-Identifier: Apache-2.0
//
// A place in a JSON text and the steps from it: what the tensor reader is made of. Nothing
// recurses, so no depth of brackets can exhaust the stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipway/status.h"

namespace slipway {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void MoveTo(const char* at) { at_ = at; }

  void SkipBlanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  // The next character after blanks, which is not taken; '\0' at the end.
  char Peek() {
    SkipBlanks();
    return at_ == end_ ? '\0' : *at_;
  }
  // Takes `c` if it comes next after blanks.
  bool Take(char c) {
    if (Peek() != c || at_ == end_) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // INVALID_ARGUMENT "JSON Parse error: WHAT at offset: N".
  Status Error(std::string_view what) const;

  // A string; the cursor stands on its quote. `text` points into the JSON, or into `scratch` if
  // there were escapes. Control characters and text that is not UTF-8 are errors.
  Status ReadString(std::string* scratch, std::string_view* text);
  // The key of an object's member and the colon.
  Status ReadKey(std::string* scratch, std::string_view* key);
  // Passes over one value of any depth, checking all of it.
  Status SkipValue();
  // Passes over one value by its brackets and strings alone; whoever reads it later checks it.
  Status SkipUnread();
  // Behind a member or element: takes a comma (true) or `close` (false).
  StatusOr<bool> TakeSeparator(char close);

  // The value here is an object with the one key "b64" and a string.
  bool IsBase64Object() const;
  // "Null", "True", "False", "Object", "Array", "String" or "Number", by its first character.
  std::string_view TypeName() const;
  // The text of the value here for a message, at most 256 bytes of it.
  std::string ValueText() const;

 private:
  Status Unescape(std::string* out);
  Status ReadUnicodeEscape(std::string* out);
  bool ReadHex4(uint32_t* code);
  Status SkipScalar();

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace slipway
