// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <re2/re2.h>

#include <algorithm>
#include <complex>
#include <cstdio>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/format_tensor.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// All inputs have one shape but for scalars, which stand for all elements.
StatusOr<KernelFn> BindJoin(const BindContext& c) {
  const std::string separator = AttrOr<std::string>(*c.node, "separator", "");
  return KernelFn([separator](KernelContext& ctx) -> Status {
    Shape shape;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const Shape& own = ctx.input(i).shape();
      if (own.rank() == 0) continue;
      if (shape.rank() != 0 && !(shape == own)) {
        return InvalidArgumentError(
            StrCat("Input shapes do not match: ", shape.ToString(), " vs. ", own.ToString()));
      }
      shape = own;
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    for (int64_t e = 0; e < shape.num_elements(); ++e) {
      std::string joined;
      for (int i = 0; i < ctx.num_inputs(); ++i) {
        if (i > 0) joined += separator;
        const Tensor& piece = ctx.input(i);
        joined += piece.flat<std::string>()[piece.rank() == 0 ? 0 : static_cast<size_t>(e)];
      }
      out->flat<std::string>()[static_cast<size_t>(e)] = std::move(joined);
    }
    return OkStatus();
  });
}

StatusOr<std::shared_ptr<const RE2>> CompilePattern(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (regex->ok()) return regex;
  return InvalidArgumentError(StrCat("Invalid pattern: ", pattern, ", error: ", regex->error()));
}

Status FullMatch(KernelContext& c, const RE2& regex) {
  return MapStrings<bool>(c, [&](const std::string& text) { return RE2::FullMatch(text, regex); });
}

StatusOr<KernelFn> BindStaticFullMatch(const BindContext& c) {
  ASSIGN_OR_RETURN(std::string pattern, c.node->Attr<std::string>("pattern"));
  ASSIGN_OR_RETURN(auto regex, CompilePattern(pattern));
  return KernelFn([regex](KernelContext& ctx) { return FullMatch(ctx, *regex); });
}

Status RunFullMatch(KernelContext& c) {
  RETURN_IF_ERROR(CheckScalar(c.input(1), "pattern"));
  ASSIGN_OR_RETURN(auto regex, CompilePattern(c.input(1).flat<std::string>()[0]));
  return FullMatch(c, *regex);
}

// A rewrite that the pattern cannot have changes nothing, as in TensorFlow.
Status ReplaceMatches(KernelContext& c, const RE2& regex, const std::string& rewrite, bool all) {
  std::string error;
  const bool valid = regex.CheckRewriteString(rewrite, &error);
  return MapStrings<std::string>(c, [&](std::string text) {
    if (!valid) return text;
    if (all) {
      RE2::GlobalReplace(&text, regex, rewrite);
    } else {
      RE2::Replace(&text, regex, rewrite);
    }
    return text;
  });
}

StatusOr<KernelFn> BindStaticReplace(const BindContext& c) {
  ASSIGN_OR_RETURN(std::string pattern, c.node->Attr<std::string>("pattern"));
  ASSIGN_OR_RETURN(std::string rewrite, c.node->Attr<std::string>("rewrite"));
  ASSIGN_OR_RETURN(auto regex, CompilePattern(pattern));
  const bool all = BoolAttr(*c.node, "replace_global", true);
  return KernelFn([regex, rewrite, all](KernelContext& ctx) {
    return ReplaceMatches(ctx, *regex, rewrite, all);
  });
}

StatusOr<KernelFn> BindReplace(const BindContext& c) {
  const bool all = BoolAttr(*c.node, "replace_global", true);
  return KernelFn([all](KernelContext& ctx) -> Status {
    const Tensor &pattern = ctx.input(1), &rewrite = ctx.input(2);
    if (pattern.rank() != 0) {
      return InvalidArgumentError(
          StrCat("Pattern must be scalar, but received ", pattern.shape().ToString()));
    }
    if (rewrite.rank() != 0) {
      return InvalidArgumentError(
          StrCat("Rewrite must be scalar, but received ", rewrite.shape().ToString()));
    }
    ASSIGN_OR_RETURN(auto regex, CompilePattern(pattern.flat<std::string>()[0]));
    return ReplaceMatches(ctx, *regex, rewrite.flat<std::string>()[0], all);
  });
}

// How AsString prints: numbers by a printf format for long long, unsigned long long or double;
// strings, which may hold zeros, by hand.
struct NumberFormat {
  std::string integer, natural, real, text;
  size_t width = 0, precision = std::string::npos;
  bool left = false;

  std::string Padded(std::string string) const {
    if (string.size() > precision) string.resize(precision);
    if (string.size() < width) string.insert(left ? string.size() : 0, width - string.size(), ' ');
    return string;
  }
};

StatusOr<NumberFormat> FormatOf(const ir::Node& node, DType dtype) {
  const int64_t precision = IntAttr(node, "precision", -1);
  const int64_t width = IntAttr(node, "width", -1);
  const std::string fill = AttrOr<std::string>(node, "fill", "");
  const bool scientific = BoolAttr(node, "scientific"), shortest = BoolAttr(node, "shortest");
  if (scientific && shortest) {
    return InvalidArgumentError("Cannot select both scientific and shortest notation");
  }
  const bool precise = precision >= 0 && dtype != DType::kString;
  if (!IsFloating(dtype) && !IsComplex(dtype) && (scientific || shortest || precise)) {
    return InvalidArgumentError(
        StrCat("scientific, shortest and precision are for floating point, "
               "not for ",
               DTypeName(dtype)));
  }
  if (fill.size() > 1 || (fill.size() == 1 && fill.find_first_of(" +-0#") != 0)) {
    return InvalidArgumentError(StrCat("Fill argument not supported: ", Quoted(fill)));
  }
  // More would only make room for huge strings.
  constexpr int64_t kMaxWidth = 4096;
  if (width > kMaxWidth || precision > kMaxWidth) {
    return InvalidArgumentError(StrCat("width and precision must be at most ", kMaxWidth));
  }
  std::string head = "%" + fill;
  if (width > -1) StrAppend(&head, width);
  NumberFormat format;
  format.integer = head + "lld";
  format.natural = head + "llu";
  format.text = head + "s";
  format.width = static_cast<size_t>(std::max<int64_t>(width, 0));
  if (precision > -1) format.precision = static_cast<size_t>(precision);
  format.left = fill == "-";
  format.real = head;
  if (precision > -1) StrAppend(&format.real, ".", precision);
  format.real += scientific ? 'e' : shortest ? 'g' : 'f';
  return format;
}

template <typename V>
std::string Printed(const std::string& format, V value) {
  char small[128];
  const int size = std::snprintf(small, sizeof(small), format.c_str(), value);
  if (size < static_cast<int>(sizeof(small))) return std::string(small, static_cast<size_t>(size));
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

template <typename T>
std::string PrintedComplex(const std::string& format, std::complex<T> value) {
  return StrCat("(", Printed(format, double{value.real()}), ",",
                Printed(format, double{value.imag()}), ")");
}

std::string ElementAsString(const Tensor& x, size_t i, const NumberFormat& format) {
  switch (x.dtype()) {
    case DType::kString:
      return format.Padded(x.flat<std::string>()[i]);
    case DType::kBool:
      return Printed(format.text, x.flat<bool>()[i] ? "true" : "false");
    case DType::kHalf:
      return Printed(format.real, double{static_cast<float>(x.flat<Half>()[i])});
    case DType::kBFloat16:
      return Printed(format.real, double{static_cast<float>(x.flat<BFloat16>()[i])});
    case DType::kComplex64:
      return PrintedComplex(format.real, x.flat<std::complex<float>>()[i]);
    case DType::kComplex128:
      return PrintedComplex(format.real, x.flat<std::complex<double>>()[i]);
    default:
      break;
  }
  return SwitchType<std::string>(Numbers{}, x.dtype(), [&]<typename T>() {
    const T value = x.flat<T>()[i];
    if constexpr (std::is_floating_point_v<T>) {
      return Printed(format.real, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<T>) {
      return Printed(format.integer, static_cast<long long>(value));
    } else {
      return Printed(format.natural, static_cast<unsigned long long>(value));
    }
  });
}

StatusOr<KernelFn> BindAsString(const BindContext& c) {
  ASSIGN_OR_RETURN(NumberFormat format, FormatOf(*c.node, c.input_dtype(0)));
  return KernelFn([format](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    for (size_t i = 0; i < static_cast<size_t>(x.num_elements()); ++i) {
      y->flat<std::string>()[i] = ElementAsString(x, i, format);
    }
    return OkStatus();
  });
}

int32_t Utf8Length(std::string_view text) {
  int32_t n = 0;
  for (char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

StatusOr<KernelFn> BindLength(const BindContext& c) {
  const bool characters = AttrOr<std::string>(*c.node, "unit", "BYTE") == "UTF8_CHAR";
  return KernelFn([characters](KernelContext& ctx) {
    return MapStrings<int32_t>(ctx, [&](const std::string& text) {
      return characters ? Utf8Length(text) : static_cast<int32_t>(text.size());
    });
  });
}

Status RunStrip(KernelContext& c) {
  return MapStrings<std::string>(
      c, [](const std::string& text) { return std::string(StripWhitespace(text)); });
}

StatusOr<KernelFn> BindFormat(const BindContext& c) {
  const std::string text = AttrOr<std::string>(*c.node, "template", "%s");
  const std::string placeholder = AttrOr<std::string>(*c.node, "placeholder", "%s");
  const int64_t summarize = IntAttr(*c.node, "summarize", 3);
  if (placeholder.empty()) return InvalidArgumentError("StringFormat has an empty placeholder");
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (size_t at; (at = text.find(placeholder, begin)) != std::string::npos;) {
    pieces.push_back(text.substr(begin, at - begin));
    begin = at + placeholder.size();
  }
  pieces.push_back(text.substr(begin));
  if (pieces.size() != c.node->inputs().size() + 1) {
    return InvalidArgumentError(StrCat("num placeholders in template and num inputs must match: ",
                                       pieces.size() - 1, " vs. ", c.node->inputs().size()));
  }
  return KernelFn([pieces, summarize](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
    std::string result = pieces[0];
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      result += FormatNested(ctx.input(i), summarize);
      result += pieces[static_cast<size_t>(i) + 1];
    }
    out->flat<std::string>()[0] = std::move(result);
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> printable = NumberTypes();
  for (DType dtype : {DType::kBool, DType::kString, DType::kComplex64, DType::kComplex128}) {
    printable.push_back(dtype);
  }
  return MakeKernels({
      {"StringJoin", BindJoin},
      {"StaticRegexFullMatch", BindStaticFullMatch},
      {"RegexFullMatch", BindRun<RunFullMatch>},
      {"StaticRegexReplace", BindStaticReplace},
      {"RegexReplace", BindReplace},
      {"AsString", BindAsString, printable},
      {"StringLength", BindLength},
      {"StringStrip", BindRun<RunStrip>},
      {"StringFormat", BindFormat},
  });
}

}  // namespace

std::span<const KernelDef> StringKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
