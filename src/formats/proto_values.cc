// SPDX-License-Identifier: Apache-2.0
#include "formats/proto_values.h"

#include <utility>
#include <vector>

#include "base/strings.h"
#include "proto/graph.pb.h"
#include "wire/tensor_proto.h"

namespace slipway::formats {
namespace tf = ::tensorflow;

Status ConstantBudget::Take(uint64_t bytes) {
  if (left_.fetch_sub(static_cast<int64_t>(bytes)) >= static_cast<int64_t>(bytes)) return {};
  return ResourceExhaustedError(
      StrCat("The constants of the file take too much memory; the last one has ", bytes, " bytes"));
}

StatusOr<PartialShape> ShapeFromProto(const tf::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return PartialShape::Unknown();
  if (proto.dim_size() > Shape::kMaxRank) {
    return InvalidArgumentError(
        StrCat("A shape has ", proto.dim_size(), " dimensions, at most ", Shape::kMaxRank));
  }
  std::vector<int64_t> dims;
  dims.reserve(static_cast<size_t>(proto.dim_size()));
  for (const auto& dim : proto.dim()) {
    if (dim.size() < -1) {
      return InvalidArgumentError(
          StrCat("A shape has a dimension of ", dim.size(), ", wanted is a size or -1 (unknown)"));
    }
    dims.push_back(dim.size());
  }
  return PartialShape(std::move(dims));
}

void ShapeToProto(const PartialShape& shape, tf::TensorShapeProto* proto) {
  proto->Clear();
  if (!shape.has_rank()) {
    proto->set_unknown_rank(true);
    return;
  }
  for (int64_t dim : shape.dims()) proto->add_dim()->set_size(dim);
}

StatusOr<Tensor> TensorFromProto(const tf::TensorProto& proto, ConstantBudget& budget) {
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) return InternalError("A tensor cannot be serialised");
  TensorDecodeOptions options;
  options.max_bytes = budget.per_constant();
  ASSIGN_OR_RETURN(Tensor tensor, DecodeTensorProto(bytes, options));
  RETURN_IF_ERROR(budget.Take(tensor.byte_size()));
  return tensor;
}

Status TensorToProto(const Tensor& tensor, tf::TensorProto* proto) {
  std::string bytes;
  // Typed fields for small values, as TensorFlow writes them; content for weights.
  auto encoding = tensor.num_elements() > 1 ? TensorEncoding::kContent : TensorEncoding::kTyped;
  RETURN_IF_ERROR(AppendTensorProto(tensor, encoding, &bytes));
  if (!proto->ParseFromString(bytes)) return InternalError("A tensor cannot be parsed again");
  return {};
}

StatusOr<DType> DTypeFromProto(int number) {
  if (auto dtype = DTypeFromNumber(number)) return *dtype;
  return UnimplementedError(StrCat("Element type ", number, " (",
                                   tf::DataType_Name(static_cast<tf::DataType>(number)),
                                   ") is not supported"));
}

namespace {

StatusOr<ir::FunctionRef> FunctionFromProto(const tf::NameAttrList& proto, ConstantBudget& budget) {
  ir::FunctionRef function{proto.name(), {}};
  for (const auto& [name, value] : proto.attr()) {
    ASSIGN_OR_RETURN(function.attrs[name], AttrFromProto(value, budget));
  }
  return function;
}

StatusOr<ir::AttrValue> ListOfObjects(const tf::AttrValue::ListValue& list,
                                      ConstantBudget& budget) {
  if (list.type_size() > 0) {
    std::vector<DType> types;
    for (int number : list.type()) {
      ASSIGN_OR_RETURN(DType dtype, DTypeFromProto(number));
      types.push_back(dtype);
    }
    return ir::AttrValue(std::move(types));
  }
  if (list.shape_size() > 0) {
    std::vector<PartialShape> shapes;
    for (const auto& shape : list.shape()) {
      ASSIGN_OR_RETURN(PartialShape value, ShapeFromProto(shape));
      shapes.push_back(std::move(value));
    }
    return ir::AttrValue(std::move(shapes));
  }
  if (list.tensor_size() > 0) {
    std::vector<Tensor> tensors;
    for (const auto& tensor : list.tensor()) {
      ASSIGN_OR_RETURN(Tensor value, TensorFromProto(tensor, budget));
      tensors.push_back(std::move(value));
    }
    return ir::AttrValue(std::move(tensors));
  }
  if (list.func_size() > 0) {
    std::vector<ir::FunctionRef> functions;
    for (const auto& function : list.func()) {
      ASSIGN_OR_RETURN(ir::FunctionRef value, FunctionFromProto(function, budget));
      functions.push_back(std::move(value));
    }
    return ir::AttrValue(std::move(functions));
  }
  // An empty list does not say of what: see TypeEmptyList.
  return ir::AttrValue(std::vector<int64_t>());
}

StatusOr<ir::AttrValue> ListFromProto(const tf::AttrValue::ListValue& list,
                                      ConstantBudget& budget) {
  if (list.i_size() > 0) {
    return ir::AttrValue(std::vector<int64_t>(list.i().begin(), list.i().end()));
  }
  if (list.f_size() > 0) {
    return ir::AttrValue(std::vector<float>(list.f().begin(), list.f().end()));
  }
  if (list.b_size() > 0) {
    return ir::AttrValue(std::vector<bool>(list.b().begin(), list.b().end()));
  }
  if (list.s_size() > 0) {
    return ir::AttrValue(std::vector<std::string>(list.s().begin(), list.s().end()));
  }
  return ListOfObjects(list, budget);
}

}  // namespace

StatusOr<ir::AttrValue> AttrFromProto(const tf::AttrValue& proto, ConstantBudget& budget) {
  switch (proto.value_case()) {
    case tf::AttrValue::kS:
      return ir::AttrValue(proto.s());
    case tf::AttrValue::kI:
      return ir::AttrValue(int64_t{proto.i()});
    case tf::AttrValue::kF:
      return ir::AttrValue(proto.f());
    case tf::AttrValue::kB:
      return ir::AttrValue(proto.b());
    case tf::AttrValue::kType: {
      ASSIGN_OR_RETURN(DType dtype, DTypeFromProto(proto.type()));
      return ir::AttrValue(dtype);
    }
    case tf::AttrValue::kShape: {
      ASSIGN_OR_RETURN(PartialShape shape, ShapeFromProto(proto.shape()));
      return ir::AttrValue(std::move(shape));
    }
    case tf::AttrValue::kTensor: {
      ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto.tensor(), budget));
      return ir::AttrValue(std::move(tensor));
    }
    case tf::AttrValue::kFunc: {
      ASSIGN_OR_RETURN(ir::FunctionRef function, FunctionFromProto(proto.func(), budget));
      return ir::AttrValue(std::move(function));
    }
    case tf::AttrValue::kList:
      return ListFromProto(proto.list(), budget);
    case tf::AttrValue::kPlaceholder:
      return UnimplementedError(StrCat("The value is the placeholder '", proto.placeholder(),
                                       "' of a function with attributes of its own"));
    case tf::AttrValue::VALUE_NOT_SET:
      break;
  }
  return ir::AttrValue();
}

void TypeEmptyList(std::string_view type, ir::AttrValue* value) {
  const auto* list = value->As<std::vector<int64_t>>();
  if (list == nullptr || !list->empty()) return;
  if (type == "list(float)") *value = std::vector<float>();
  if (type == "list(bool)") *value = std::vector<bool>();
  if (type == "list(string)") *value = std::vector<std::string>();
  if (type == "list(type)") *value = std::vector<DType>();
  if (type == "list(shape)") *value = std::vector<PartialShape>();
  if (type == "list(tensor)") *value = std::vector<Tensor>();
  if (type == "list(func)") *value = std::vector<ir::FunctionRef>();
}

namespace {

Status FunctionToProto(const ir::FunctionRef& function, tf::NameAttrList* proto) {
  proto->set_name(function.name);
  for (const auto& [name, value] : function.attrs) {
    RETURN_IF_ERROR(AttrToProto(value, &(*proto->mutable_attr())[name]));
  }
  return {};
}

// One overload a type of value.
struct AttrWriter {
  tf::AttrValue* proto;

  Status operator()(std::monostate) { return {}; }
  Status operator()(int64_t v) { return proto->set_i(v), Status(); }
  Status operator()(float v) { return proto->set_f(v), Status(); }
  Status operator()(bool v) { return proto->set_b(v), Status(); }
  Status operator()(const std::string& v) { return proto->set_s(v), Status(); }
  Status operator()(DType v) { return proto->set_type(static_cast<tf::DataType>(v)), Status(); }
  Status operator()(const PartialShape& v) {
    return ShapeToProto(v, proto->mutable_shape()), Status();
  }
  Status operator()(const Tensor& v) { return TensorToProto(v, proto->mutable_tensor()); }
  Status operator()(const ir::FunctionRef& v) { return FunctionToProto(v, proto->mutable_func()); }
  Status operator()(const std::vector<int64_t>& list) {
    auto* out = proto->mutable_list();
    for (int64_t v : list) out->add_i(v);
    return {};
  }
  Status operator()(const std::vector<float>& list) {
    auto* out = proto->mutable_list();
    for (float v : list) out->add_f(v);
    return {};
  }
  Status operator()(const std::vector<bool>& list) {
    auto* out = proto->mutable_list();
    for (bool v : list) out->add_b(v);
    return {};
  }
  Status operator()(const std::vector<std::string>& list) {
    auto* out = proto->mutable_list();
    for (const auto& v : list) out->add_s(v);
    return {};
  }
  Status operator()(const std::vector<DType>& list) {
    auto* out = proto->mutable_list();
    for (DType v : list) out->add_type(static_cast<tf::DataType>(v));
    return {};
  }
  Status operator()(const std::vector<PartialShape>& list) {
    auto* out = proto->mutable_list();
    for (const auto& v : list) ShapeToProto(v, out->add_shape());
    return {};
  }
  Status operator()(const std::vector<Tensor>& list) {
    auto* out = proto->mutable_list();
    for (const auto& v : list) RETURN_IF_ERROR(TensorToProto(v, out->add_tensor()));
    return {};
  }
  Status operator()(const std::vector<ir::FunctionRef>& list) {
    auto* out = proto->mutable_list();
    for (const auto& v : list) RETURN_IF_ERROR(FunctionToProto(v, out->add_func()));
    return {};
  }
};

StatusOr<ir::OpSchema::Arg> ArgFromProto(const tf::OpDef::ArgDef& proto) {
  ir::OpSchema::Arg arg;
  arg.name = proto.name();
  if (proto.type() != tf::DT_INVALID) {
    ASSIGN_OR_RETURN(arg.dtype, DTypeFromProto(proto.type()));
  }
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  return arg;
}

}  // namespace

Status AttrToProto(const ir::AttrValue& value, tf::AttrValue* proto) {
  return std::visit(AttrWriter{proto}, value.value);
}

StatusOr<ir::OpSchema> SchemaFromOpDef(const tf::OpDef& op, ConstantBudget& budget) {
  ir::OpSchema schema;
  schema.name = op.name();
  schema.effect = op.is_stateful() ? ir::Effect::kStateful : ir::Effect::kPure;
  for (const auto& proto : op.input_arg()) {
    ASSIGN_OR_RETURN(ir::OpSchema::Arg arg, ArgFromProto(proto));
    schema.inputs.push_back(std::move(arg));
  }
  for (const auto& proto : op.output_arg()) {
    ASSIGN_OR_RETURN(ir::OpSchema::Arg arg, ArgFromProto(proto));
    schema.outputs.push_back(std::move(arg));
  }
  for (const auto& proto : op.attr()) {
    ir::OpSchema::Attr attr{proto.name(), proto.type(), proto.has_default_value(), {}};
    if (attr.has_default) {
      ASSIGN_OR_RETURN(attr.default_value, AttrFromProto(proto.default_value(), budget));
      TypeEmptyList(attr.type, &attr.default_value);
    }
    schema.attrs.push_back(std::move(attr));
  }
  return schema;
}

}  // namespace slipway::formats
