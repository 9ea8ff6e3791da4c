// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "exec/evaluate.h"
#include "ir/builder.h"
#include "model/python_expr.h"
#include "wire/coding.h"

namespace slipway::model {
namespace {

using Kind = PythonValue::Kind;

bool IsSequence(const PythonValue& value) {
  return value.kind == Kind::kList || value.kind == Kind::kTuple;
}

// The leaves of nested lists, whose lengths must agree with `dims`.
Status Collect(const PythonValue& value, std::span<const int64_t> dims,
               std::vector<const PythonValue*>* leaves) {
  if (!IsSequence(value)) {
    if (!dims.empty()) return InvalidArgumentError("lists and values are mixed in one list");
    leaves->push_back(&value);
    return OkStatus();
  }
  if (dims.empty() || static_cast<int64_t>(value.items.size()) != dims[0]) {
    return InvalidArgumentError("the lists are of unequal length or depth");
  }
  for (const PythonValue& item : value.items) {
    RETURN_IF_ERROR(Collect(item, dims.subspan(1), leaves));
  }
  return OkStatus();
}

// The type of a leaf; arrays may stand in lists if they hold one value.
StatusOr<DType> LeafType(const PythonValue& leaf) {
  switch (leaf.kind) {
    case Kind::kBool:
      return DType::kBool;
    case Kind::kInt:
      return DType::kInt64;
    case Kind::kFloat:
      return DType::kDouble;
    case Kind::kComplex:
      return DType::kComplex128;
    case Kind::kText:
    case Kind::kBytes:
      return DType::kString;
    case Kind::kArray:
      if (leaf.array.rank() == 0) return leaf.array.dtype();
      return InvalidArgumentError("an array stands in a list; make one array of it with .reshape");
    default:
      return InvalidArgumentError("None, dictionaries and types are no elements of an array");
  }
}

int Order(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (IsInteger(dtype)) return 1;
  if (IsFloating(dtype)) return 2;
  return IsComplex(dtype) ? 3 : 4;
}

StatusOr<DType> CommonType(const std::vector<const PythonValue*>& leaves) {
  static constexpr DType kTypes[] = {DType::kBool, DType::kInt64, DType::kDouble,
                                     DType::kComplex128, DType::kString};
  int lowest = 4;
  int highest = 0;
  for (const PythonValue* leaf : leaves) {
    ASSIGN_OR_RETURN(const DType dtype, LeafType(*leaf));
    lowest = std::min(lowest, Order(dtype));
    highest = std::max(highest, Order(dtype));
  }
  if (leaves.empty()) return DType::kDouble;
  if (highest == 4 && lowest < 4) return InvalidArgumentError("texts and numbers are mixed");
  return kTypes[highest];
}

Status SetElement(const PythonValue& leaf, size_t i, Tensor* out) {
  if (leaf.kind == Kind::kArray) {
    if (leaf.array.dtype() == DType::kString) {
      out->flat<std::string>()[i] = leaf.array.scalar<std::string>();
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const Tensor one, ConvertArray(leaf.array, out->dtype()));
    const size_t size = DTypeSize(out->dtype());
    std::memcpy(static_cast<char*>(out->raw_data()) + i * size, one.raw_data(), size);
    return OkStatus();
  }
  const bool whole = leaf.kind == Kind::kInt || leaf.kind == Kind::kBool;
  const double real = whole ? static_cast<double>(leaf.integer) : leaf.real;
  switch (out->dtype()) {
    case DType::kBool:
      out->flat<bool>()[i] = leaf.integer != 0;
      break;
    case DType::kInt64:
      out->flat<int64_t>()[i] = leaf.integer;
      break;
    case DType::kDouble:
      out->flat<double>()[i] = real;
      break;
    case DType::kComplex128:
      out->flat<std::complex<double>>()[i] = {real, leaf.imaginary};
      break;
    default:
      out->flat<std::string>()[i] = leaf.text;
  }
  return OkStatus();
}

Status AppendFeature(const PythonValue& list, std::string* out) {
  const PythonValue& first = list.items[0];
  std::string values;
  ProtoWriter writer(&values);
  uint32_t field = 0;
  for (const PythonValue& item : list.items) {
    const bool text = item.kind == Kind::kText || item.kind == Kind::kBytes;
    const bool whole = item.kind == Kind::kInt || item.kind == Kind::kBool;
    if (first.kind == Kind::kFloat && (item.kind == Kind::kFloat || whole)) {
      field = 2;
      writer.Float(1, static_cast<float>(whole ? static_cast<double>(item.integer) : item.real));
    } else if (first.kind == item.kind && text) {
      field = 1;
      writer.Bytes(1, item.text);
    } else if ((first.kind == Kind::kInt || first.kind == Kind::kBool) && whole) {
      field = 3;
      writer.Int64(1, item.integer);
    } else {
      return InvalidArgumentError("a feature's list holds floats, integers, or texts, of one kind");
    }
  }
  ProtoWriter(out).Bytes(field, values);
  return OkStatus();
}

}  // namespace

StatusOr<Tensor> ArrayFromPython(const PythonValue& value) {
  if (value.kind == Kind::kArray) return value.array;
  std::vector<int64_t> dims;
  for (const PythonValue* v = &value; IsSequence(*v); v = &v->items[0]) {
    dims.push_back(static_cast<int64_t>(v->items.size()));
    if (v->items.empty()) break;
  }
  std::vector<const PythonValue*> leaves;
  RETURN_IF_ERROR(Collect(value, dims, &leaves));
  ASSIGN_OR_RETURN(const DType dtype, CommonType(leaves));
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims));
  ASSIGN_OR_RETURN(Tensor array, Tensor::Allocate(dtype, std::move(shape)));
  for (size_t i = 0; i < leaves.size(); ++i) RETURN_IF_ERROR(SetElement(*leaves[i], i, &array));
  return array;
}

StatusOr<Tensor> ConvertArray(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (IsObject(tensor.dtype()) || IsObject(dtype)) {
    return InvalidArgumentError(StrCat("elements of type ", DTypeName(tensor.dtype()),
                                       " do not become ", DTypeName(dtype)));
  }
  if (IsComplex(tensor.dtype()) && !IsComplex(dtype)) {
    return InvalidArgumentError(StrCat("complex numbers would lose a part as ", DTypeName(dtype)));
  }
  ir::Graph graph;
  ir::GraphBuilder b(&graph);
  const ir::Output from = b.Placeholder(tensor.dtype(), PartialShape(), "from");
  const ir::Output to = b.Op("Cast", {from}, {{"SrcT", tensor.dtype()}, {"DstT", dtype}});
  RETURN_IF_ERROR(b.status());
  ASSIGN_OR_RETURN(std::vector<Tensor> result,
                   exec::EvaluateNode(*to.node, std::span(&tensor, 1), {}));
  return std::move(result[0]);
}

StatusOr<std::string> ExampleFromPython(const PythonValue& value) {
  if (value.kind != Kind::kDict) {
    return InvalidArgumentError("an example is a dictionary {feature: list}");
  }
  std::string features;
  ProtoWriter map(&features);
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const PythonValue& key = value.items[i];
    const PythonValue& list = value.items[i + 1];
    if (key.kind != Kind::kText) return InvalidArgumentError("a feature's name is a text");
    if (list.kind != Kind::kList || list.items.empty()) {
      return InvalidArgumentError(
          StrCat("feature value must be a list with elements, but '", key.text, "' is not"));
    }
    std::string feature;
    RETURN_IF_ERROR(AppendFeature(list, &feature).WithContext(StrCat("feature '", key.text, "'")));
    std::string entry;
    ProtoWriter(&entry).Bytes(1, key.text);
    ProtoWriter(&entry).Bytes(2, feature);
    map.Bytes(1, entry);
  }
  std::string example;
  ProtoWriter(&example).Bytes(1, features);
  return example;
}

}  // namespace slipway::model
