// SPDX-License-Identifier: Apache-2.0
#include "model/numpy_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/strings.h"

namespace slipway::model {
namespace {

using Kind = PythonValue::Kind;

PythonValue ArrayValue(Tensor array) {
  PythonValue value;
  value.kind = Kind::kArray;
  value.array = std::move(array);
  return value;
}

PythonValue FloatValue(double number) {
  PythonValue value;
  value.kind = Kind::kFloat;
  value.real = number;
  return value;
}

std::optional<double> NumberOf(const PythonValue& value) {
  if (value.kind == Kind::kInt || value.kind == Kind::kBool) {
    return static_cast<double>(value.integer);
  }
  if (value.kind == Kind::kFloat) return value.real;
  return std::nullopt;
}

// The arguments of one call by name or place.
class Arguments {
 public:
  Arguments(const std::string& function, const NumpyCall& call, std::vector<std::string> names)
      : function_(function), call_(call), names_(std::move(names)) {}

  Status Check() const {
    if (call_.args.size() > names_.size()) {
      return Wrong(StrCat("it has ", call_.args.size(), " arguments, at most ", names_.size(),
                          " are known: ", StrJoin(names_, ", ")));
    }
    for (const auto& [name, value] : call_.keywords) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
      return Wrong(StrCat("the argument '", name, "' is not known: ", StrJoin(names_, ", ")));
    }
    return OkStatus();
  }
  Status Wrong(std::string_view why) const {
    return InvalidArgumentError(StrCat(function_, ": ", why));
  }

  const PythonValue* Find(const std::string& name) const {
    for (const auto& [known, value] : call_.keywords) {
      if (known == name) return &value;
    }
    for (size_t i = 0; i < call_.args.size(); ++i) {
      if (names_[i] == name) return &call_.args[i];
    }
    return nullptr;
  }
  StatusOr<const PythonValue*> Get(const std::string& name) const {
    const PythonValue* value = Find(name);
    if (value == nullptr) return Wrong(StrCat("the argument '", name, "' is missing"));
    return value;
  }
  StatusOr<double> Number(const std::string& name, std::optional<double> otherwise) const {
    const PythonValue* value = Find(name);
    if (value == nullptr && otherwise) return *otherwise;
    const auto number = value == nullptr ? std::nullopt : NumberOf(*value);
    if (!number) return Wrong(StrCat("wanted a number for '", name, "'"));
    return *number;
  }
  // kInvalid: none is given.
  StatusOr<DType> Type() const {
    const PythonValue* value = Find("dtype");
    if (value == nullptr || value->kind == Kind::kNone) return DType::kInvalid;
    if (value->kind == Kind::kDType) return value->dtype;
    const auto dtype = value->kind == Kind::kText ? ParseDType(value->text) : std::nullopt;
    if (!dtype) return Wrong("wanted a type such as np.float32 or 'float32' for 'dtype'");
    return *dtype;
  }

 private:
  const std::string& function_;
  const NumpyCall& call_;
  std::vector<std::string> names_;
};

StatusOr<Shape> ShapeOf(const Arguments& args, const PythonValue& value, int64_t max_elements) {
  std::vector<int64_t> dims;
  if (value.kind == Kind::kInt) {
    dims.push_back(value.integer);
  } else if (value.kind == Kind::kList || value.kind == Kind::kTuple) {
    for (const PythonValue& item : value.items) {
      if (item.kind != Kind::kInt) return args.Wrong("a shape is made of integers");
      dims.push_back(item.integer);
    }
  } else {
    return args.Wrong("a shape is an integer, or integers in brackets");
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims));
  if (shape.num_elements() > max_elements) {
    return ResourceExhaustedError(StrCat("an array of ", shape.num_elements(),
                                         " elements; at most ", max_elements, " are made"));
  }
  return shape;
}

StatusOr<Tensor> Typed(const Arguments& args, Tensor array) {
  ASSIGN_OR_RETURN(const DType dtype, args.Type());
  return dtype == DType::kInvalid ? array : ConvertArray(array, dtype);
}

// Of one value, repeated.
StatusOr<Tensor> Filled(const Tensor& scalar, const Shape& shape) {
  if (scalar.rank() != 0) return InvalidArgumentError("np.full fills with one value, not an array");
  ASSIGN_OR_RETURN(Tensor array, Tensor::Allocate(scalar.dtype(), shape));
  if (scalar.dtype() == DType::kString) {
    for (std::string& element : array.flat<std::string>()) element = scalar.scalar<std::string>();
    return array;
  }
  const size_t size = DTypeSize(scalar.dtype());
  auto* to = static_cast<char*>(array.raw_data());
  for (int64_t i = 0; i < array.num_elements(); ++i, to += size) {
    std::memcpy(to, scalar.raw_data(), size);
  }
  return array;
}

StatusOr<Tensor> Repeat(const std::string& name, const NumpyCall& call, double value,
                        int64_t max_elements) {
  const Arguments args(name, call, {"shape", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const PythonValue* given, args.Get("shape"));
  ASSIGN_OR_RETURN(const Shape shape, ShapeOf(args, *given, max_elements));
  ASSIGN_OR_RETURN(const Tensor one, Typed(args, Tensor::Scalar(value)));
  return Filled(one, shape);
}

StatusOr<Tensor> Full(const std::string& name, const NumpyCall& call, int64_t max_elements) {
  const Arguments args(name, call, {"shape", "fill_value", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const PythonValue* given, args.Get("shape"));
  ASSIGN_OR_RETURN(const PythonValue* fill, args.Get("fill_value"));
  ASSIGN_OR_RETURN(const Shape shape, ShapeOf(args, *given, max_elements));
  ASSIGN_OR_RETURN(Tensor value, ArrayFromPython(*fill));
  ASSIGN_OR_RETURN(value, Typed(args, std::move(value)));
  return Filled(value, shape);
}

StatusOr<Tensor> Array(const std::string& name, const NumpyCall& call) {
  const Arguments args(name, call, {"object", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const PythonValue* object, args.Get("object"));
  ASSIGN_OR_RETURN(Tensor array, ArrayFromPython(*object));
  return Typed(args, std::move(array));
}

StatusOr<Tensor> Steps(const Arguments& args, double start, double step, double count, bool whole,
                       int64_t max_elements) {
  if (!(count <= static_cast<double>(max_elements))) {
    return ResourceExhaustedError(StrCat("at most ", max_elements, " elements are made"));
  }
  const auto n = static_cast<int64_t>(std::max(0.0, count));
  Tensor array(whole ? DType::kInt64 : DType::kDouble, Shape({n}));
  for (int64_t i = 0; i < n; ++i) {
    const double value = start + static_cast<double>(i) * step;
    if (whole) {
      array.flat<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(value);
    } else {
      array.flat<double>()[static_cast<size_t>(i)] = value;
    }
  }
  return Typed(args, std::move(array));
}

bool AllIntegers(const NumpyCall& call) {
  for (const PythonValue& arg : call.args) {
    if (arg.kind == Kind::kFloat) return false;
  }
  for (const auto& [name, arg] : call.keywords) {
    if (arg.kind == Kind::kFloat) return false;
  }
  return true;
}

StatusOr<Tensor> Arange(const std::string& name, const NumpyCall& call, int64_t max_elements) {
  const bool one = call.args.size() == 1;
  const Arguments args(name, call,
                       one ? std::vector<std::string>{"stop", "start", "step", "dtype"}
                           : std::vector<std::string>{"start", "stop", "step", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const double start, args.Number("start", 0));
  ASSIGN_OR_RETURN(const double stop, args.Number("stop", std::nullopt));
  ASSIGN_OR_RETURN(const double step, args.Number("step", 1));
  if (step == 0) return args.Wrong("'step' is 0");
  return Steps(args, start, step, std::ceil((stop - start) / step), AllIntegers(call),
               max_elements);
}

StatusOr<Tensor> Linspace(const std::string& name, const NumpyCall& call, int64_t max_elements) {
  const Arguments args(name, call, {"start", "stop", "num", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const double start, args.Number("start", std::nullopt));
  ASSIGN_OR_RETURN(const double stop, args.Number("stop", std::nullopt));
  ASSIGN_OR_RETURN(const double num, args.Number("num", 50));
  const double step = num > 1 ? (stop - start) / (num - 1) : 0;
  return Steps(args, start, step, num, false, max_elements);
}

StatusOr<Tensor> Eye(const std::string& name, const NumpyCall& call, int64_t max_elements) {
  const Arguments args(name, call, {"N", "dtype"});
  RETURN_IF_ERROR(args.Check());
  ASSIGN_OR_RETURN(const PythonValue* n, args.Get("N"));
  if (n->kind != Kind::kInt) return args.Wrong("'N' is an integer");
  ASSIGN_OR_RETURN(const Shape shape,
                   Shape::FromDims(std::vector<int64_t>{n->integer, n->integer}));
  if (shape.num_elements() > max_elements) {
    return ResourceExhaustedError(StrCat("at most ", max_elements, " elements are made"));
  }
  ASSIGN_OR_RETURN(Tensor array, Filled(Tensor::Scalar(0.0), shape));
  for (int64_t i = 0; i < n->integer; ++i) {
    array.flat<double>()[static_cast<size_t>(i * n->integer + i)] = 1;
  }
  return Typed(args, std::move(array));
}

std::optional<DType> TypeNamed(const std::string& name) {
  if (name == "bool_") return DType::kBool;
  if (name == "float16") return DType::kHalf;
  if (name == "string") return std::nullopt;
  const auto dtype = ParseDType(name);
  const bool number = dtype && !IsObject(*dtype) && !IsQuantized(*dtype);
  return number ? dtype : std::nullopt;
}

StatusOr<Tensor> Call(const std::string& name, const NumpyCall& call, int64_t max_elements) {
  const std::string shown = StrCat("np.", name);
  if (name == "ones") return Repeat(shown, call, 1, max_elements);
  if (name == "zeros" || name == "empty") return Repeat(shown, call, 0, max_elements);
  if (name == "full") return Full(shown, call, max_elements);
  if (name == "array" || name == "asarray") return Array(shown, call);
  if (name == "arange") return Arange(shown, call, max_elements);
  if (name == "linspace") return Linspace(shown, call, max_elements);
  if (name == "eye") return Eye(shown, call, max_elements);
  if (const auto dtype = TypeNamed(name); dtype && call.args.size() == 1) {
    ASSIGN_OR_RETURN(const Tensor array, ArrayFromPython(call.args[0]));
    return ConvertArray(array, *dtype);
  }
  return InvalidArgumentError(
      StrCat(shown, " is not evaluated; known are ", kNumpyFunctions,
             ". Save other arrays with numpy.save and give them with --inputs"));
}

}  // namespace

StatusOr<PythonValue> NumpyConstant(const std::string& name) {
  if (name == "pi") return FloatValue(std::numbers::pi);
  if (name == "nan") return FloatValue(std::numeric_limits<double>::quiet_NaN());
  if (name == "inf") return FloatValue(std::numeric_limits<double>::infinity());
  if (const auto dtype = TypeNamed(name)) {
    PythonValue value;
    value.kind = Kind::kDType;
    value.dtype = *dtype;
    return value;
  }
  return InvalidArgumentError(StrCat("np.", name, " is not evaluated; known are np.pi, np.nan, ",
                                     "np.inf, types, ", kNumpyFunctions));
}

StatusOr<PythonValue> CallNumpy(const std::string& name, const NumpyCall& call,
                                int64_t max_elements) {
  ASSIGN_OR_RETURN(Tensor array, Call(name, call, max_elements));
  return ArrayValue(std::move(array));
}

StatusOr<PythonValue> CallMethod(const PythonValue& value, const std::string& name,
                                 const NumpyCall& call) {
  if (value.kind != Kind::kArray) {
    return InvalidArgumentError(StrCat(".", name, "() is called on something that is no array"));
  }
  if (name == "astype") {
    const Arguments args(name, call, {"dtype"});
    RETURN_IF_ERROR(args.Check());
    ASSIGN_OR_RETURN(Tensor array, Typed(args, value.array));
    return ArrayValue(std::move(array));
  }
  if (name != "reshape") {
    return InvalidArgumentError(
        StrCat(".", name, "() is not evaluated; known are ", kNumpyFunctions));
  }
  PythonValue shape;
  shape.kind = Kind::kTuple;
  shape.items = call.args;
  if (call.args.size() == 1 && call.args[0].kind != Kind::kInt) shape = call.args[0];
  int64_t known = 1;
  for (PythonValue& item : shape.items) {
    if (item.integer > 0 && __builtin_mul_overflow(known, item.integer, &known)) known = INT64_MAX;
  }
  for (PythonValue& item : shape.items) {  // one -1 stands for what is left
    if (item.integer == -1) item.integer = value.array.num_elements() / std::max<int64_t>(known, 1);
  }
  const NumpyCall none;
  const Arguments args(name, none, {});
  ASSIGN_OR_RETURN(Shape wanted, ShapeOf(args, shape, int64_t{1} << 40));
  if (wanted.num_elements() != value.array.num_elements()) {
    return args.Wrong(StrCat("an array of shape ", value.array.shape().ToString(),
                             " does not become ", wanted.ToString()));
  }
  return ArrayValue(value.array.Reshaped(std::move(wanted)));
}

}  // namespace slipway::model
