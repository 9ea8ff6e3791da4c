// SPDX-License-Identifier: Apache-2.0
#include "serve/rest_path.h"

#include <algorithm>

#include "base/strings.h"
#include "net/http.h"

namespace slipway::serve {
namespace {

using Kind = RestPath::Kind;

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y;
  });
}

// Takes "/word" off the front.
bool TakeWord(std::string_view* path, std::string_view word) {
  if (path->size() < word.size() + 1 || path->front() != '/') return false;
  if (!EqualsIgnoringCase(path->substr(1, word.size()), word)) return false;
  const std::string_view rest = path->substr(word.size() + 1);
  if (!rest.empty() && rest.front() != '/' && rest.front() != ':') return false;
  *path = rest;
  return true;
}

// Takes "/name" off the front, up to the next '/' or ':'; empty if there is none.
std::string_view TakeName(std::string_view* path) {
  if (path->empty() || path->front() != '/') return {};
  const size_t end = std::min(path->find_first_of("/:", 1), path->size());
  const std::string_view name = path->substr(1, end - 1);
  path->remove_prefix(end);
  return name;
}

std::string_view Decoded(std::string_view name, std::string* storage) {
  if (name.find('%') == std::string_view::npos) return name;
  *storage = net::PercentDecode(name);
  return *storage;
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "/versions/5" or "/labels/l" if it is there. False: malformed.
bool TakeChoice(std::string_view* path, RestPath* parsed) {
  if (TakeWord(path, "versions")) {
    parsed->text = TakeName(path);
    if (!IsDigits(parsed->text)) return false;
    parsed->version = ParseInt64(parsed->text);
    if (!parsed->version) parsed->kind = Kind::kBadVersion;
    return true;
  }
  if (TakeWord(path, "labels")) {
    parsed->label = Decoded(TakeName(path), &parsed->decoded_label);
    return !parsed->label.empty();
  }
  return true;
}

Kind ParseEnd(std::string_view path, RestPath* parsed) {
  const bool bad_version = parsed->kind == Kind::kBadVersion;
  if (path.empty()) return bad_version ? Kind::kBadVersion : Kind::kStatus;
  if (path.front() == ':') {
    const std::string_view verb = path.substr(1);
    if (verb != "predict" && verb != "classify" && verb != "regress") return Kind::kMalformed;
    if (bad_version) return Kind::kBadVersion;
    parsed->text = verb;
    return Kind::kVerb;
  }
  if (!TakeWord(&path, "metadata") || !path.empty()) return Kind::kMalformed;
  return bad_version ? Kind::kBadVersion : Kind::kMetadata;
}

}  // namespace

void ParseRestPath(std::string_view path, RestPath* parsed) {
  parsed->kind = Kind::kMalformed;
  if (!TakeWord(&path, "v1") || !TakeWord(&path, "models")) return;
  if (path.empty() || path == "/") {
    parsed->kind = Kind::kModelList;
    return;
  }
  const std::string_view name = TakeName(&path);
  if (name.empty()) return;
  parsed->model = Decoded(name, &parsed->decoded_model);
  if (!TakeChoice(&path, parsed)) {
    parsed->kind = Kind::kMalformed;
    return;
  }
  parsed->kind = ParseEnd(path, parsed);
}

}  // namespace slipway::serve
