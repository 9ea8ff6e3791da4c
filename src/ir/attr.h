// SPDX-License-Identifier: Apache-2.0
//
// Attribute values of nodes: the types of TensorFlow's AttrValue, as C++ values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipway/dtype.h"
#include "slipway/shape.h"
#include "slipway/tensor.h"

namespace slipway::ir {

struct AttrValue;
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

// A function by name, with values for its own attributes (rarely any).
struct FunctionRef {
  std::string name;
  AttrMap attrs;
};

struct AttrValue {
  using Value =
      std::variant<std::monostate, int64_t, float, bool, std::string, DType, PartialShape, Tensor,
                   FunctionRef, std::vector<int64_t>, std::vector<float>, std::vector<bool>,
                   std::vector<std::string>, std::vector<DType>, std::vector<PartialShape>,
                   std::vector<Tensor>, std::vector<FunctionRef>>;
  Value value;

  AttrValue() = default;
  AttrValue(int v) : value(int64_t{v}) {}
  AttrValue(int64_t v) : value(v) {}
  AttrValue(float v) : value(v) {}
  AttrValue(double v) : value(static_cast<float>(v)) {}
  AttrValue(bool v) : value(v) {}
  AttrValue(const char* v) : value(std::string(v)) {}
  AttrValue(std::string v) : value(std::move(v)) {}
  AttrValue(DType v) : value(v) {}
  AttrValue(PartialShape v) : value(std::move(v)) {}
  AttrValue(Tensor v) : value(std::move(v)) {}
  AttrValue(FunctionRef v) : value(std::move(v)) {}
  AttrValue(std::vector<int64_t> v) : value(std::move(v)) {}
  AttrValue(std::vector<float> v) : value(std::move(v)) {}
  AttrValue(std::vector<bool> v) : value(std::move(v)) {}
  AttrValue(std::vector<std::string> v) : value(std::move(v)) {}
  AttrValue(std::vector<DType> v) : value(std::move(v)) {}
  AttrValue(std::vector<PartialShape> v) : value(std::move(v)) {}
  AttrValue(std::vector<Tensor> v) : value(std::move(v)) {}
  AttrValue(std::vector<FunctionRef> v) : value(std::move(v)) {}

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value);
  }
  // "int 3", "list(type) [DT_FLOAT, DT_INT32]": for messages and listings.
  std::string ToString() const;
  // "int", "list(type)"…; "nothing" for an empty value. OpSchema::Attr::type uses the same words.
  std::string_view TypeName() const;
};

// Same type and same value; tensors compare by dtype, shape and bytes.
bool operator==(const AttrValue& a, const AttrValue& b);
bool operator==(const FunctionRef& a, const FunctionRef& b);

}  // namespace slipway::ir
