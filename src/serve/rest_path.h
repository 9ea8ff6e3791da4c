// SPDX-License-Identifier: Apache-2.0
//
// The paths of TensorFlow Serving's REST API, taken apart:
//
//   /v1/models/{m}[/versions/{n}|/labels/{l}]:VERB      VERB is predict, classify or regress
//   /v1/models/{m}[/versions/{n}|/labels/{l}][/metadata]
//   /v1/models
//
// {m} and {l} are percent-decoded after the path is split, so they may hold "%2F" and "%3A". Fixed
// words but the verb may be written in any case.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway::serve {

struct RestPath {
  enum class Kind {
    kMalformed,
    kBadVersion,  // digits, but beyond int64; `text` holds them
    kModelList,   // /v1/models
    kVerb,        // `text` is predict, classify or regress
    kStatus,
    kMetadata,
  };
  Kind kind = Kind::kMalformed;
  std::string_view text;  // into the path
  std::string_view model;
  std::optional<int64_t> version;
  std::string_view label;  // empty: none

  // Where decoded names lie if they had to be decoded.
  std::string decoded_model;
  std::string decoded_label;

  RestPath() = default;
  RestPath(const RestPath&) = delete;  // views into itself
  RestPath& operator=(const RestPath&) = delete;
};

// `path` is percent-encoded, without the query, and must live as long as *parsed. Does not allocate
// unless a name is percent-encoded.
void ParseRestPath(std::string_view path, RestPath* parsed);

}  // namespace slipway::serve
