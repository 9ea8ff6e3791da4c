// SPDX-License-Identifier: Apache-2.0
//
// Strings as characters, through ICU, which TensorFlow uses too: what counts as one malformed
// sequence, and which encodings there are, is ICU's.
#include <unicode/locid.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <limits>
#include <memory>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// What a decoder met is told by its context; the character becomes U+FFFD.
void NoteMalformed(const void* malformed, UConverterToUnicodeArgs* args, const char* bytes,
                   int32_t length, UConverterCallbackReason reason, UErrorCode* error) {
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR) {
    *static_cast<bool*>(const_cast<void*>(malformed)) = true;
  }
  UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, bytes, length, reason, error);
}

class Decoder {
 public:
  static StatusOr<Decoder> Open(const std::string& encoding) {
    Decoder decoder;
    UErrorCode error = U_ZERO_ERROR;
    decoder.converter_.reset(ucnv_open(encoding.c_str(), &error));
    if (U_FAILURE(error)) {
      return InvalidArgumentError(
          StrCat("Could not create converter for input encoding: ", encoding));
    }
    return decoder;
  }

  // fn(character, bytes taken, malformed) for each character.
  template <typename Fn>
  void ForEach(const std::string& bytes, Fn&& fn) {
    UErrorCode error = U_ZERO_ERROR;
    bool malformed = false;
    UConverterToUCallback old = nullptr;
    const void* old_context = nullptr;
    ucnv_reset(converter_.get());
    ucnv_setToUCallBack(converter_.get(), NoteMalformed, &malformed, &old, &old_context, &error);
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (at < end) {
      const char* const before = at;
      const UChar32 character = ucnv_getNextUChar(converter_.get(), &at, end, &error);
      if (U_FAILURE(error)) at = end;
      fn(character, at - before, malformed);
      malformed = false;
    }
    error = U_ZERO_ERROR;
    ucnv_setToUCallBack(converter_.get(), old, old_context, nullptr, nullptr, &error);
  }

 private:
  struct Close {
    void operator()(UConverter* converter) const { ucnv_close(converter); }
  };
  std::unique_ptr<UConverter, Close> converter_;
};

enum class Errors { kStrict, kReplace, kIgnore };
struct ErrorRules {
  Errors errors = Errors::kReplace;
  UChar32 replacement = 0xfffd;
  bool replace_controls = false;

  static StatusOr<ErrorRules> Of(const ir::Node& node) {
    ErrorRules rules;
    const std::string errors = AttrOr<std::string>(node, "errors", "replace");
    if (errors == "strict") rules.errors = Errors::kStrict;
    if (errors == "ignore") rules.errors = Errors::kIgnore;
    const int64_t replacement = IntAttr(node, "replacement_char", 0xfffd);
    if (replacement < 0 || replacement > 0x10ffff) {
      return InvalidArgumentError(
          StrCat("replacement_char out of unicode codepoint range: ", replacement));
    }
    rules.replacement = static_cast<UChar32>(replacement);
    rules.replace_controls = BoolAttr(node, "replace_control_characters");
    return rules;
  }
  // put(character) for what stands for it; false where nothing may.
  template <typename Put>
  bool Apply(UChar32 character, bool malformed, Put&& put) const {
    if (malformed && errors == Errors::kStrict) return false;
    if (!malformed && !(replace_controls && character <= 0x1f)) {
      put(character);
    } else if (errors != Errors::kIgnore) {
      put(replacement);
    }
    return true;
  }
};

Status Malformed() { return InvalidArgumentError("Invalid formatting on input string"); }

struct Decoded {
  std::vector<int64_t> row_splits = {0};
  std::vector<int32_t> characters;
  std::vector<int64_t> starts;
};

StatusOr<KernelFn> BindUnicodeDecode(const BindContext& c) {
  ASSIGN_OR_RETURN(const std::string encoding, c.node->Attr<std::string>("input_encoding"));
  ASSIGN_OR_RETURN(const ErrorRules rules, ErrorRules::Of(*c.node));
  RETURN_IF_ERROR(Decoder::Open(encoding).status());
  const bool offsets = c.node->num_outputs() == 3;
  const DType splits_type = c.node->dtype(0);
  return KernelFn([=](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(encoding));
    Decoded out;
    bool ok = true;
    for (const std::string& text : ctx.input(0).flat<std::string>()) {
      int64_t at = 0;
      decoder.ForEach(text, [&](UChar32 character, int64_t taken, bool malformed) {
        ok &= rules.Apply(character, malformed, [&](UChar32 c32) {
          out.characters.push_back(c32);
          if (offsets) out.starts.push_back(at);
        });
        at += taken;
      });
      if (!ok) return Malformed();
      out.row_splits.push_back(static_cast<int64_t>(out.characters.size()));
    }
    if (splits_type == DType::kInt32 && out.row_splits.back() > INT32_MAX) {
      return InvalidArgumentError(
          StrCat(out.row_splits.back(), " characters do not fit int32 row splits"));
    }
    RETURN_IF_ERROR(OutputIndices(ctx, 0, splits_type, out.row_splits));
    RETURN_IF_ERROR(OutputVector(ctx, 1, std::move(out.characters)));
    return offsets ? OutputVector(ctx, 2, std::move(out.starts)) : OkStatus();
  });
}

enum class Form { kUtf8, kUtf16, kUtf32 };
StatusOr<Form> OutputForm(const ir::Node& node) {
  ASSIGN_OR_RETURN(const std::string encoding, node.Attr<std::string>("output_encoding"));
  if (encoding == "UTF-8") return Form::kUtf8;
  if (encoding == "UTF-16-BE") return Form::kUtf16;
  if (encoding == "UTF-32-BE") return Form::kUtf32;
  return InvalidArgumentError(
      StrCat("output_encoding is ", Quoted(encoding), "; wanted UTF-8, UTF-16-BE or UTF-32-BE"));
}

void AppendBytes(uint32_t value, int count, std::string* out) {
  for (int i = count - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Big-endian, without a byte order mark.
std::string Encoded(const icu::UnicodeString& text, Form form) {
  std::string out;
  if (form == Form::kUtf8) {
    text.toUTF8String(out);
  } else if (form == Form::kUtf16) {
    for (int32_t i = 0; i < text.length(); ++i) AppendBytes(text.charAt(i), 2, &out);
  } else {
    for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
      AppendBytes(static_cast<uint32_t>(text.char32At(i)), 4, &out);
    }
  }
  return out;
}

bool IsCharacter(UChar32 value) {
  return value >= 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
}

Status CheckEncodeInput(const Tensor& values, const Tensor& splits, const IntVec& ends) {
  if (values.rank() != 1 || splits.rank() != 1) {
    return InvalidArgumentError("Both the input_tensor and input_splits should be of rank 1.");
  }
  if (ends.empty()) {
    return InvalidArgumentError(
        "Input_splits should contain elements, but given input_values has 0 elements");
  }
  if (ends[0] != 0) {
    return InvalidArgumentError(
        StrCat("First value in input_splits must be zero. It is ", ends[0]));
  }
  if (ends[ends.size() - 1] != values.num_elements()) {
    return InvalidArgumentError(
        StrCat("Last value in input_splits must be equal to length of input_tensor. They are ",
               ends[ends.size() - 1], " and ", values.num_elements()));
  }
  for (size_t i = 1; i < ends.size(); ++i) {
    if (ends[i] < ends[i - 1] || ends[i] > values.num_elements()) {
      return InvalidArgumentError(
          StrCat("Values in input_splits must be equal or in ascending order. Value ", i, " is ",
                 ends[i], " after ", ends[i - 1]));
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindUnicodeEncode(const BindContext& c) {
  ASSIGN_OR_RETURN(const ErrorRules rules, ErrorRules::Of(*c.node));
  ASSIGN_OR_RETURN(const Form form, OutputForm(*c.node));
  return KernelFn([rules, form](KernelContext& ctx) -> Status {
    const auto values = ctx.input(0).flat<int32_t>();
    ASSIGN_OR_RETURN(const IntVec ends, ReadInts(ctx.input(1), "input_splits"));
    RETURN_IF_ERROR(CheckEncodeInput(ctx.input(0), ctx.input(1), ends));
    const auto rows = static_cast<int64_t>(ends.size()) - 1;
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({rows})));
    for (size_t row = 0; row + 1 < ends.size(); ++row) {
      icu::UnicodeString text;
      bool ok = true;
      for (int64_t i = ends[row]; i < ends[row + 1]; ++i) {
        const UChar32 value = values[static_cast<size_t>(i)];
        ok &= rules.Apply(value, !IsCharacter(value), [&](UChar32 c32) { text.append(c32); });
      }
      if (!ok) {
        return InvalidArgumentError("Code point is out of range for Unicode, or is a surrogate.");
      }
      out->flat<std::string>()[row] = Encoded(text, form);
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindTranscode(const BindContext& c) {
  ASSIGN_OR_RETURN(const std::string encoding, c.node->Attr<std::string>("input_encoding"));
  ASSIGN_OR_RETURN(const ErrorRules rules, ErrorRules::Of(*c.node));
  ASSIGN_OR_RETURN(const Form form, OutputForm(*c.node));
  RETURN_IF_ERROR(Decoder::Open(encoding).status());
  return KernelFn([=](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(encoding));
    return TryMapStrings<std::string>(ctx, [&](const std::string& bytes, std::string* out) {
      icu::UnicodeString text;
      bool ok = true;
      decoder.ForEach(bytes, [&](UChar32 character, int64_t, bool malformed) {
        ok &= rules.Apply(character, malformed, [&](UChar32 c32) { text.append(c32); });
      });
      if (!ok) return Malformed();
      *out = Encoded(text, form);
      return OkStatus();
    });
  });
}

Status RunScript(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  for (size_t i = 0; i < x.flat<int32_t>().size(); ++i) {
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(x.flat<int32_t>()[i], &error);
    y->flat<int32_t>()[i] = U_SUCCESS(error) ? script : USCRIPT_INVALID_CODE;
  }
  return OkStatus();
}

std::string AsciiUpper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string Cased(const std::string& text, bool upper, bool unicode) {
  if (!unicode) return upper ? AsciiUpper(text) : AsciiLower(text);
  auto characters = icu::UnicodeString::fromUTF8(text);
  upper ? characters.toUpper(icu::Locale::getRoot()) : characters.toLower(icu::Locale::getRoot());
  return Encoded(characters, Form::kUtf8);
}

StatusOr<KernelFn> BindCase(const BindContext& c) {
  const std::string encoding = AttrOr<std::string>(*c.node, "encoding", "");
  if (!encoding.empty() && encoding != "utf-8") {
    return InvalidArgumentError(
        StrCat("only utf-8 or '' (no encoding) is supported, received ", encoding));
  }
  const bool upper = c.node->op() == "StringUpper", unicode = !encoding.empty();
  return KernelFn([upper, unicode](KernelContext& ctx) {
    return MapStrings<std::string>(
        ctx, [&](const std::string& text) { return Cased(text, upper, unicode); });
  });
}

}  // namespace

std::span<const KernelDef> UnicodeKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"UnicodeDecode", BindUnicodeDecode},
      {"UnicodeDecodeWithOffsets", BindUnicodeDecode},
      {"UnicodeEncode", BindUnicodeEncode},
      {"UnicodeTranscode", BindTranscode},
      {"UnicodeScript", BindRun<RunScript>},
      {"StringLower", BindCase},
      {"StringUpper", BindCase},
  });
  return table;
}

}  // namespace slipway::kernels
