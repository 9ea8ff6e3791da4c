// SPDX-License-Identifier: Apache-2.0
#include "kernels/format_tensor.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

std::string Escaped(const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || c == '"' || c == '\'') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string Element(const Tensor& t, int64_t index, bool quoted) {
  const auto i = static_cast<size_t>(index);
  switch (t.dtype()) {
    case DType::kString: {
      const std::string text = Escaped(t.flat<std::string>()[i]);
      return quoted ? StrCat("\"", text, "\"") : text;
    }
    case DType::kBool:
      return t.flat<bool>()[i] ? "1" : "0";
    case DType::kHalf:
      return StrCat(static_cast<float>(t.flat<Half>()[i]));
    case DType::kBFloat16:
      return StrCat(static_cast<float>(t.flat<BFloat16>()[i]));
    default:
      break;
  }
  std::string text = SwitchType<std::string>(Numbers{}, t.dtype(), [&]<typename T>() {
    if constexpr (sizeof(T) == 1) return StrCat(static_cast<int>(t.flat<T>()[i]));
    return StrCat(t.flat<T>()[i]);
  });
  return text.empty() ? "?" : text;
}

void AppendFlat(const Tensor& t, int d, int64_t limit, int64_t* at, std::string* out) {
  if (*at >= limit) return;
  if (d == t.rank() - 1) {
    for (int64_t i = 0; i < t.dim(d); ++i) {
      if (*at >= limit) {
        if (d != 0) StrAppend(out, "...");
        return;
      }
      if (i > 0) out->push_back(' ');
      StrAppend(out, Element(t, (*at)++, false));
    }
    return;
  }
  for (int64_t i = 0; i < t.dim(d) && *at < limit; ++i) {
    out->push_back('[');
    AppendFlat(t, d + 1, limit, at, out);
    out->push_back(']');
  }
}

void AppendSpacing(const Tensor& t, int d, std::string* out) {
  if (d == t.rank() - 1) {
    out->push_back(' ');
    return;
  }
  out->append(static_cast<size_t>(t.rank() - d - 1), '\n');
  out->append(static_cast<size_t>(d + 1), ' ');
}

void AppendNested(const Tensor& t, int d, int64_t ends, int64_t at, std::string* out) {
  if (d == t.rank()) {
    StrAppend(out, Element(t, at, true));
    return;
  }
  int64_t step = 1;
  for (int i = d + 1; i < t.rank(); ++i) step *= t.dim(i);
  const int64_t count = t.dim(d);
  out->push_back('[');
  for (int64_t i = 0; i < std::min(ends, count); ++i) {
    if (i > 0) AppendSpacing(t, d, out);
    AppendNested(t, d + 1, ends, at + i * step, out);
  }
  if (count > ends && count - ends > ends) {
    AppendSpacing(t, d, out);
    StrAppend(out, "...");
  }
  for (int64_t i = std::max(ends, count - ends); i < count; ++i) {
    AppendSpacing(t, d, out);
    AppendNested(t, d + 1, ends, at + i * step, out);
  }
  out->push_back(']');
}

}  // namespace

std::string FormatFlat(const Tensor& tensor, int64_t limit) {
  if (limit < 0) limit = std::numeric_limits<int64_t>::max();
  std::string out;
  if (tensor.rank() == 0) {
    if (limit > 0) out = Element(tensor, 0, false);
  } else {
    int64_t at = 0;
    AppendFlat(tensor, 0, limit, &at, &out);
  }
  if (tensor.num_elements() > limit) StrAppend(&out, "...");
  return out;
}

std::string FormatNested(const Tensor& tensor, int64_t ends) {
  if (ends < 0) ends = std::numeric_limits<int64_t>::max();
  std::string out;
  AppendNested(tensor, 0, ends, 0, &out);
  return out;
}

}  // namespace slipway::kernels
