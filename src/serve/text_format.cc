// SPDX-License-Identifier: Apache-2.0
#include "serve/text_format.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "base/strings.h"

namespace slipway::serve {
namespace {

// Keeps the first error; the others follow from it more often than not.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = StrCat(line + 1, ":", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Status ParseTextFormat(std::string_view text, google::protobuf::Message* message) {
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  // Messages within messages recurse.
  parser.SetRecursionLimit(100);
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&stream, message)) return OkStatus();
  return InvalidArgumentError(StrCat("Error parsing text-format ",
                                     message->GetDescriptor()->full_name(), ": ", error.text()));
}

}  // namespace slipway::serve
