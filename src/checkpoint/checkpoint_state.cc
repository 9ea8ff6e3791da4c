// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/checkpoint_state.h"

#include <charconv>

#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway {
namespace {

constexpr std::string_view kFileName = "checkpoint";
constexpr uint64_t kMaxFileBytes = 16 << 20;

std::string FilePath(const std::string& directory) { return JoinPath(directory, kFileName); }

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The text format of protocol buffers, as far as this message needs it: name ':' value, values
// being numbers or quoted strings with C's escapes; adjacent strings join.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  // False if what comes is not `name: value`.
  bool Field(std::string_view* name, std::string* value) {
    SkipBlanks();
    const size_t start = at_;
    while (at_ < text_.size() && (text_[at_] == '_' || std::isalnum(Byte()))) ++at_;
    *name = text_.substr(start, at_ - start);
    SkipBlanks();
    if (name->empty() || at_ == text_.size() || text_[at_] != ':') return false;
    ++at_;
    SkipBlanks();
    value->clear();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        if (!QuotedText(value)) return false;
        SkipBlanks();
      }
      return true;
    }
    while (at_ < text_.size() && !std::isspace(Byte()) && text_[at_] != '#') {
      value->push_back(text_[at_++]);
    }
    return !value->empty();
  }

 private:
  unsigned char Byte() const { return static_cast<unsigned char>(text_[at_]); }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::isspace(Byte()) || text_[at_] == ',' || text_[at_] == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool QuotedText(std::string* value) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        value->push_back(text_[at_++]);
      } else if (!Escape(value)) {
        return false;
      }
    }
    if (at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  bool Escape(std::string* value) {
    if (++at_ == text_.size()) return false;
    const char c = text_[at_++];
    if (IsOctal(c)) {
      int code = c - '0';
      for (int i = 0; i < 2 && at_ < text_.size() && IsOctal(text_[at_]); ++i) {
        code = code * 8 + (text_[at_++] - '0');
      }
      value->push_back(static_cast<char>(code));
      return true;
    }
    if (c == 'x') {
      int code = 0;
      const char* begin = text_.data() + at_;
      const char* end = begin + std::min<size_t>(2, text_.size() - at_);
      const auto [stop, error] = std::from_chars(begin, end, code, 16);
      if (error != std::errc()) return false;
      at_ += static_cast<size_t>(stop - begin);
      value->push_back(static_cast<char>(code));
      return true;
    }
    constexpr std::string_view kNames = "abfnrtv\\'\"?";
    constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\'\"?";
    const size_t which = kNames.find(c);
    if (which == std::string_view::npos) return false;
    value->push_back(kMeant[which]);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void AppendQuotedField(std::string* out, std::string_view name, std::string_view value) {
  StrAppend(out, name, ": \"");
  for (char c : value) {
    if (c == '"' || c == '\\') {
      StrAppend(out, '\\', c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      const auto code = static_cast<unsigned char>(c);
      StrAppend(out, '\\', static_cast<int>(code >> 6), static_cast<int>(code >> 3 & 7),
                static_cast<int>(code & 7));
    } else {
      out->push_back(c);
    }
  }
  out->append("\"\n");
}

Status Malformed(const std::string& path, std::string_view what) {
  return DataLossError(StrCat(path, ": ", what,
                              "; wanted lines such as model_checkpoint_path: "
                              "\"ckpt-1\""));
}

}  // namespace

StatusOr<CheckpointState> ReadCheckpointState(Env* env, const std::string& directory) {
  const std::string path = FilePath(directory);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(env, path, kMaxFileBytes));
  CheckpointState state;
  TextReader reader(text);
  while (!reader.AtEnd()) {
    std::string_view name;
    std::string value;
    if (!reader.Field(&name, &value)) return Malformed(path, "is not in protobuf's text format");
    if (name == "model_checkpoint_path") {
      state.model_checkpoint_path = std::move(value);
    } else if (name == "all_model_checkpoint_paths") {
      state.all_model_checkpoint_paths.push_back(std::move(value));
    } else if (name == "all_model_checkpoint_timestamps" || name == "last_preserved_timestamp") {
      const auto number = ParseDouble(value);
      if (!number) return Malformed(path, StrCat(name, " is ", Quoted(value), ", not a number"));
      if (name == "last_preserved_timestamp") {
        state.last_preserved_timestamp = *number;
      } else {
        state.all_model_checkpoint_timestamps.push_back(*number);
      }
    }
  }
  if (state.model_checkpoint_path.empty()) {
    return Malformed(path, "names no model_checkpoint_path");
  }
  return state;
}

Status WriteCheckpointState(Env* env, const std::string& directory, const CheckpointState& state) {
  std::string text;
  AppendQuotedField(&text, "model_checkpoint_path", state.model_checkpoint_path);
  for (const std::string& path : state.all_model_checkpoint_paths) {
    AppendQuotedField(&text, "all_model_checkpoint_paths", path);
  }
  for (double time : state.all_model_checkpoint_timestamps) {
    StrAppend(&text, "all_model_checkpoint_timestamps: ", time, "\n");
  }
  if (state.last_preserved_timestamp) {
    StrAppend(&text, "last_preserved_timestamp: ", *state.last_preserved_timestamp, "\n");
  }
  return WriteFileAtomically(env, FilePath(directory), text);
}

StatusOr<std::string> LatestCheckpoint(Env* env, const std::string& directory) {
  ASSIGN_OR_RETURN(const CheckpointState state, ReadCheckpointState(env, directory));
  std::vector<std::string> candidates = {state.model_checkpoint_path};
  const auto& all = state.all_model_checkpoint_paths;
  candidates.insert(candidates.end(), all.rbegin(), all.rend());
  for (const std::string& candidate : candidates) {
    const bool absolute = candidate.starts_with('/') || candidate.find("://") != std::string::npos;
    const std::string as_written = absolute ? candidate : JoinPath(directory, candidate);
    // A directory that was moved as a whole still holds files under absolute names of its past.
    for (const std::string& prefix : {as_written, JoinPath(directory, Basename(candidate))}) {
      if (env->Exists(BundleIndexName(prefix))) return prefix;
    }
  }
  return NotFoundError(StrCat("None of the checkpoints that ", FilePath(directory),
                              " names is there; the latest is ",
                              Quoted(state.model_checkpoint_path, 300)));
}

}  // namespace slipway
