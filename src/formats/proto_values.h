// SPDX-License-Identifier: Apache-2.0
//
// Between TensorFlow's messages and typed values; inside `formats` only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ir/attr.h"
#include "ir/op_schema.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace tensorflow {
class AttrValue;
class OpDef;
class TensorProto;
class TensorShapeProto;
}  // namespace tensorflow

namespace slipway::formats {

// What constants may still take, over all of a file: a few bytes can declare a huge splat, and a
// file can hold many of them. Shared by all that read the file; thread safe.
class ConstantBudget {
 public:
  ConstantBudget(uint64_t per_constant, uint64_t total)
      : per_constant_(per_constant), left_(static_cast<int64_t>(total)) {}
  uint64_t per_constant() const { return per_constant_; }
  // RESOURCE_EXHAUSTED when the file has asked for too much in all.
  Status Take(uint64_t bytes);

 private:
  const uint64_t per_constant_;
  std::atomic<int64_t> left_;
};

// INVALID_ARGUMENT for a negative size other than -1 (unknown).
StatusOr<PartialShape> ShapeFromProto(const tensorflow::TensorShapeProto& proto);
void ShapeToProto(const PartialShape& shape, tensorflow::TensorShapeProto* proto);

StatusOr<Tensor> TensorFromProto(const tensorflow::TensorProto& proto, ConstantBudget& budget);
Status TensorToProto(const Tensor& tensor, tensorflow::TensorProto* proto);

// A reference type gives its base. UNIMPLEMENTED for a type that we do not have.
StatusOr<DType> DTypeFromProto(int number);

// An empty list comes as one of integers, whatever its type; TypeEmptyList mends it.
StatusOr<ir::AttrValue> AttrFromProto(const tensorflow::AttrValue& proto, ConstantBudget& budget);
// Gives an empty list the type that the schema of the op says ("list(type)"). An ir::Graph does so
// itself for ops that it knows.
void TypeEmptyList(std::string_view type, ir::AttrValue* value);
Status AttrToProto(const ir::AttrValue& value, tensorflow::AttrValue* proto);

// An OpDef, such as those a file brings along for its ops, as a schema (without shape function).
StatusOr<ir::OpSchema> SchemaFromOpDef(const tensorflow::OpDef& op, ConstantBudget& budget);

}  // namespace slipway::formats
