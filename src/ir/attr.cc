// SPDX-License-Identifier: Apache-2.0
#include "ir/attr.h"

#include <bit>
#include <cstring>

#include "base/strings.h"

namespace slipway::ir {
namespace {

// Name of each alternative of AttrValue::Value, in its order.
constexpr std::string_view kTypeNames[] = {
    "nothing",      "int",        "float",       "bool",         "string",      "type",
    "shape",        "tensor",     "func",        "list(int)",    "list(float)", "list(bool)",
    "list(string)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};
static_assert(std::size(kTypeNames) == std::variant_size_v<AttrValue::Value>);

std::string Text(std::monostate) { return ""; }
std::string Text(int64_t v) { return StrCat(v); }
std::string Text(float v) { return StrCat(v); }
std::string Text(bool v) { return StrCat(v); }
std::string Text(const std::string& v) { return Quoted(v); }
std::string Text(DType v) { return std::string(DTypeEnumName(v)); }
std::string Text(const PartialShape& v) { return v.ToString(); }
std::string Text(const Tensor& v) { return v.ToString(); }
std::string Text(const FunctionRef& v) { return v.name; }
template <typename T>
std::string Text(const std::vector<T>& list) {
  std::string out = "[";
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    if (i == kShown) {
      out += "...";
      break;
    }
    out += Text(static_cast<T>(list[i]));
  }
  return out + "]";
}

template <typename T>
bool SameElements(const Tensor& a, const Tensor& b) {
  const std::span<const T> x = a.flat<T>(), y = b.flat<T>();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

bool Same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.raw_data() == b.raw_data() || a.num_elements() == 0) return true;
  if (a.dtype() == DType::kString) return SameElements<std::string>(a, b);
  if (a.dtype() == DType::kResource) return SameElements<ResourceHandle>(a, b);
  if (a.dtype() == DType::kVariant) return SameElements<Variant>(a, b);
  return std::memcmp(a.raw_data(), b.raw_data(), a.byte_size()) == 0;
}
// By bits, so that a NaN equals itself.
bool Same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }
template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Same(x, y); });
}
bool Same(const std::vector<bool>& a, const std::vector<bool>& b) { return a == b; }

}  // namespace

std::string AttrValue::ToString() const {
  const std::string text = std::visit([](const auto& v) { return Text(v); }, value);
  return text.empty() ? std::string(TypeName()) : StrCat(TypeName(), " ", text);
}

std::string_view AttrValue::TypeName() const { return kTypeNames[value.index()]; }

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (a.value.index() != b.value.index()) return false;
  return std::visit(
      [&](const auto& x) { return Same(x, std::get<std::remove_cvref_t<decltype(x)>>(b.value)); },
      a.value);
}

bool operator==(const FunctionRef& a, const FunctionRef& b) {
  return a.name == b.name && a.attrs == b.attrs;
}

}  // namespace slipway::ir
