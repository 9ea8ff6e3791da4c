// SPDX-License-Identifier: Apache-2.0
#include "kernels/custom_op.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/strings.h"
#include "ir/custom_schema.h"
#include "ir/op_schema_text.h"
#include "ir/shape_inference.h"
#include "slipway/custom_op.h"

// The opaque types of the header.
struct SlipwayContext {
  const slipway::ir::Node* node = nullptr;
  slipway::ir::ShapeContext* shapes = nullptr;        // in shape functions
  slipway::kernels::KernelContext* kernel = nullptr;  // in kernels
  std::vector<slipway::Tensor*> outputs;              // allocated so far, else null
  slipway::Status error;
};

struct SlipwayRegistry {
  struct Op {
    slipway::ir::OpSchema schema;
    SlipwayOpFunction shape = nullptr;
    SlipwayOpFunction kernel = nullptr;
  };
  std::vector<Op> ops;
  slipway::Status error;
};

namespace slipway::kernels {
namespace {

// ---- what a library may call ----------------------------------------------------------------

int Fail(SlipwayContext* context, Status status) {
  const int code = static_cast<int>(status.code());
  context->error = std::move(status);
  return code;
}

int ReportError(SlipwayContext* context, int code, const char* message) {
  const bool known = code > 0 && code <= 16;
  return Fail(context, Status(known ? static_cast<Code>(code) : Code::kInternal,
                              message == nullptr ? "" : message));
}

template <typename T, typename Out>
int GetAttr(SlipwayContext* context, const char* name, Out* value) {
  const StatusOr<T> attr = context->node->Attr<T>(name);
  if (!attr.ok()) return Fail(context, attr.status());
  *value = static_cast<Out>(*attr);
  return SLIPWAY_OK;
}

int AttrString(SlipwayContext* context, const char* name, const char** text, size_t* size) {
  const ir::AttrValue* attr = context->node->FindAttr(name);
  const std::string* value = attr == nullptr ? nullptr : attr->As<std::string>();
  if (value == nullptr) return Fail(context, context->node->Attr<std::string>(name).status());
  *text = value->data();
  *size = value->size();
  return SLIPWAY_OK;
}

int32_t NumInputs(SlipwayContext* context) {
  return static_cast<int32_t>(context->node->inputs().size());
}
int32_t NumOutputs(SlipwayContext* context) { return context->node->num_outputs(); }

int CheckIndex(SlipwayContext* context, const char* what, int32_t index, int32_t count) {
  if (index >= 0 && index < count) return SLIPWAY_OK;
  return Fail(context, InvalidArgumentError(StrCat("The op has ", count, " ", what,
                                                   "s; there is no ", what, " ", index)));
}

int CheckPhase(SlipwayContext* context, bool wanted, const char* phase) {
  if (wanted) return SLIPWAY_OK;
  return Fail(context, InvalidArgumentError(StrCat("This is for ", phase, "s only")));
}

int InputShape(SlipwayContext* context, int32_t input, SlipwayShape* shape) {
  if (int e = CheckPhase(context, context->shapes != nullptr, "shape function")) return e;
  if (int e = CheckIndex(context, "input", input, NumInputs(context))) return e;
  const PartialShape& known = context->shapes->input(input);
  shape->rank = known.has_rank() ? known.rank() : -1;
  shape->dims = known.has_rank() ? known.dims().data() : nullptr;
  return SLIPWAY_OK;
}

// Dimensions that a library gives, `least` being the smallest that may stand there.
int ReadDims(SlipwayContext* context, int32_t rank, const int64_t* dims, int64_t least,
             std::vector<int64_t>* out) {
  if (rank < 0 || rank > Shape::kMaxRank || (rank > 0 && dims == nullptr)) {
    return Fail(context, InvalidArgumentError(
                             StrCat("A shape of rank ", rank, "; wanted 0 to ", Shape::kMaxRank)));
  }
  int64_t elements = 1;
  for (int32_t i = 0; i < rank; ++i) {
    const bool fits = dims[i] >= least &&
                      !__builtin_mul_overflow(elements, std::max<int64_t>(dims[i], 1), &elements);
    if (!fits) {
      return Fail(context, InvalidArgumentError(StrCat("Dimension ", i, " of an output is ",
                                                       dims[i], ", which is no size")));
    }
    out->push_back(dims[i]);
  }
  return SLIPWAY_OK;
}

int SetOutputShape(SlipwayContext* context, int32_t output, int32_t rank, const int64_t* dims) {
  if (int e = CheckPhase(context, context->shapes != nullptr, "shape function")) return e;
  if (int e = CheckIndex(context, "output", output, NumOutputs(context))) return e;
  if (rank == -1) {
    context->shapes->set_output(output, PartialShape::Unknown());
    return SLIPWAY_OK;
  }
  std::vector<int64_t> sizes;
  if (int e = ReadDims(context, rank, dims, -1, &sizes)) return e;
  context->shapes->set_output(output, PartialShape(std::move(sizes)));
  return SLIPWAY_OK;
}

void Describe(const Tensor& tensor, SlipwayTensor* out) {
  out->dtype = static_cast<int32_t>(tensor.dtype());
  out->rank = tensor.rank();
  out->dims = tensor.shape().dims().data();
  out->num_elements = tensor.num_elements();
  out->data = IsObject(tensor.dtype()) ? nullptr : const_cast<void*>(tensor.raw_data());
}

int Input(SlipwayContext* context, int32_t input, SlipwayTensor* tensor) {
  if (int e = CheckPhase(context, context->kernel != nullptr, "kernel")) return e;
  if (int e = CheckIndex(context, "input", input, NumInputs(context))) return e;
  Describe(context->kernel->input(input), tensor);
  return SLIPWAY_OK;
}

int AllocateOutput(SlipwayContext* context, int32_t output, int32_t rank, const int64_t* dims,
                   SlipwayTensor* tensor) {
  if (int e = CheckPhase(context, context->kernel != nullptr, "kernel")) return e;
  if (int e = CheckIndex(context, "output", output, NumOutputs(context))) return e;
  std::vector<int64_t> sizes;
  if (int e = ReadDims(context, rank, dims, 0, &sizes)) return e;
  Shape shape;
  for (const int64_t size : sizes) shape.AddDim(size);
  StatusOr<Tensor*> made = context->kernel->AllocateOutput(output, shape);
  if (!made.ok()) return Fail(context, made.status());
  context->outputs[static_cast<size_t>(output)] = *made;
  Describe(**made, tensor);
  return SLIPWAY_OK;
}

// The element of a string tensor, or null with the error set.
std::string* StringAt(SlipwayContext* context, const Tensor* tensor, int64_t element) {
  const bool fits = tensor != nullptr && tensor->dtype() == DType::kString && element >= 0 &&
                    element < tensor->num_elements();
  if (!fits) {
    Fail(context,
         InvalidArgumentError(StrCat("There is no string ", element, " in this input or output")));
    return nullptr;
  }
  return const_cast<std::string*>(&tensor->flat<std::string>()[static_cast<size_t>(element)]);
}

int GetString(SlipwayContext* context, int32_t input, int64_t element, const char** text,
              size_t* size) {
  if (int e = CheckPhase(context, context->kernel != nullptr, "kernel")) return e;
  if (int e = CheckIndex(context, "input", input, NumInputs(context))) return e;
  const std::string* found = StringAt(context, &context->kernel->input(input), element);
  if (found == nullptr) return SLIPWAY_INVALID_ARGUMENT;
  *text = found->data();
  *size = found->size();
  return SLIPWAY_OK;
}

int SetString(SlipwayContext* context, int32_t output, int64_t element, const char* text,
              size_t size) {
  if (int e = CheckIndex(context, "output", output, NumOutputs(context))) return e;
  if (int e = CheckPhase(context, context->kernel != nullptr, "kernel")) return e;
  std::string* place = StringAt(context, context->outputs[static_cast<size_t>(output)], element);
  if (place == nullptr) return SLIPWAY_INVALID_ARGUMENT;
  place->assign(text, size);
  return SLIPWAY_OK;
}

constexpr SlipwayApi kApi = {
    .abi_version = SLIPWAY_CUSTOM_OP_ABI_VERSION,
    .struct_size = sizeof(SlipwayApi),
    .attr_int = GetAttr<int64_t, int64_t>,
    .attr_float = GetAttr<float, float>,
    .attr_bool = GetAttr<bool, int>,
    .attr_string = AttrString,
    .attr_type = GetAttr<DType, int32_t>,
    .num_inputs = NumInputs,
    .num_outputs = NumOutputs,
    .input_shape = InputShape,
    .set_output_shape = SetOutputShape,
    .input = Input,
    .allocate_output = AllocateOutput,
    .get_string = GetString,
    .set_string = SetString,
    .error = ReportError,
};

// ---- how its functions are called -----------------------------------------------------------

struct Functions {
  SlipwayOpFunction shape;
  SlipwayOpFunction kernel;
};

// Of all loaded libraries, by op. Never shrinks: nodes keep schemas that lead here.
class FunctionTable {
 public:
  static FunctionTable& Get() {
    static auto* table = new FunctionTable();
    return *table;
  }
  void Add(const std::string& op, Functions functions) {
    const std::unique_lock lock(mutex_);
    by_op_.emplace(op, functions);
  }
  Functions Find(const std::string& op) const {
    const std::shared_lock lock(mutex_);
    return by_op_.at(op);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, Functions> by_op_;
};

Status Call(SlipwayOpFunction function, SlipwayContext* context) {
  const int code = function(&kApi, context);
  if (code == SLIPWAY_OK) return OkStatus();
  if (!context->error.ok() && static_cast<int>(context->error.code()) == code) {
    return context->error;
  }
  const std::string_view reason =
      context->error.ok() ? "it gives no reason" : context->error.message();
  const bool known = code > 0 && code <= 16;
  return Status(known ? static_cast<Code>(code) : Code::kInternal,
                StrCat("The custom op failed with code ", code, ": ", reason));
}

Status CustomShape(ir::ShapeContext& c) {
  const Functions functions = FunctionTable::Get().Find(c.node().op());
  if (functions.shape == nullptr) return OkStatus();
  SlipwayContext context{.node = &c.node(), .shapes = &c};
  const Status status = Call(functions.shape, &context);
  return status.ok() ? status : c.Error(status.message());
}

StatusOr<KernelFn> BindCustom(const BindContext& bind) {
  const Functions functions = FunctionTable::Get().Find(bind.node->op());
  // The plan that keeps the kernel keeps its node as well only while it is bound.
  auto graph = std::make_shared<ir::Graph>();
  std::vector<DType> dtypes;
  for (int i = 0; i < bind.node->num_outputs(); ++i) dtypes.push_back(bind.node->dtype(i));
  std::vector<ir::Output> inputs;
  for (const ir::Output& input : bind.node->inputs()) {
    ASSIGN_OR_RETURN(ir::Node * source, graph->AddOpaqueNode({.op = "Input"}, {input.dtype()}));
    inputs.push_back({source, 0});
  }
  ASSIGN_OR_RETURN(const ir::Node* node, graph->AddNode({.op = bind.node->op(),
                                                         .name = bind.node->name(),
                                                         .inputs = std::move(inputs),
                                                         .attrs = bind.node->attrs()}));
  return KernelFn([functions, graph, node](KernelContext& kernel) {
    SlipwayContext context{.node = node, .kernel = &kernel};
    context.outputs.assign(static_cast<size_t>(node->num_outputs()), nullptr);
    RETURN_IF_ERROR(Call(functions.kernel, &context));
    for (size_t i = 0; i < context.outputs.size(); ++i) {
      if (context.outputs[i] != nullptr) continue;
      return InternalError(StrCat("The custom op did not allocate output ", i));
    }
    return OkStatus();
  });
}

// ---- libraries --------------------------------------------------------------------------------

StatusOr<SlipwayRegistry::Op> ReadOp(const SlipwayOp& op) {
  if (op.name == nullptr || *op.name == '\0') return InvalidArgumentError("An op has no name");
  if (op.kernel == nullptr) {
    return InvalidArgumentError(StrCat("Op ", op.name, " has no kernel"));
  }
  const auto text = [](const char* given) { return given == nullptr ? "" : given; };
  SlipwayRegistry::Op made;
  ASSIGN_OR_RETURN(made.schema,
                   ir::ParseOpSchema({op.name, text(op.inputs), text(op.outputs), text(op.attrs),
                                      op.stateful != 0 ? ir::Effect::kStateful : ir::Effect::kPure,
                                      CustomShape}));
  made.shape = op.shape;
  made.kernel = op.kernel;
  return made;
}

int RegisterOp(SlipwayRegistry* registry, const SlipwayOp* op) {
  auto made = op == nullptr ? InvalidArgumentError("An op is null") : ReadOp(*op);
  Status status = made.status();
  if (status.ok()) {
    const std::string& name = made->schema.name;
    bool there = ir::FindOpSchema(name) != nullptr;
    for (const auto& other : registry->ops) there = there || other.schema.name == name;
    if (there) {
      status = AlreadyExistsError(
          StrCat("Op ", name, " is there already; give the library's another name"));
    }
  }
  if (status.ok()) {
    registry->ops.push_back(*std::move(made));
    return SLIPWAY_OK;
  }
  if (registry->error.ok()) registry->error = status;
  return static_cast<int>(status.code());
}

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename Function>
StatusOr<Function> FindSymbol(const Library& library, const char* name) {
  void* symbol = dlsym(library.get(), name);
  if (symbol != nullptr) return reinterpret_cast<Function>(symbol);
  return InvalidArgumentError(StrCat("It has no function ", name,
                                     "; include/slipway/custom_op.h says what a library defines"));
}

Status Register(const Library& library) {
  ASSIGN_OR_RETURN(auto* version, FindSymbol<decltype(&slipway_custom_op_abi_version)>(
                                      library, "slipway_custom_op_abi_version"));
  if (const uint32_t seen = version(); seen != SLIPWAY_CUSTOM_OP_ABI_VERSION) {
    return InvalidArgumentError(StrCat("It is built for version ", seen,
                                       " of the interface, this program has version ",
                                       SLIPWAY_CUSTOM_OP_ABI_VERSION, "; build it anew"));
  }
  ASSIGN_OR_RETURN(auto* entry,
                   FindSymbol<decltype(&slipway_register_ops)>(library, "slipway_register_ops"));
  SlipwayRegistry registry;
  const int code = entry(&registry, RegisterOp);
  RETURN_IF_ERROR(registry.error);
  if (code != SLIPWAY_OK) {
    return InvalidArgumentError(StrCat("Its slipway_register_ops failed with code ", code));
  }
  for (auto& op : registry.ops) {
    const std::string name = op.schema.name;
    FunctionTable::Get().Add(name, {op.shape, op.kernel});
    AddKernel({.op = name, .bind = BindCustom, .expensive = true});
    RETURN_IF_ERROR(ir::AddOpSchema(std::move(op.schema)));
  }
  return OkStatus();
}

}  // namespace

Status LoadCustomOpLibrary(const std::string& path) {
  static auto* mutex = new std::mutex();
  static auto* loaded = new std::set<void*>();
  const std::lock_guard lock(*mutex);
  // Without a slash the system would look elsewhere.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  Library library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    return InvalidArgumentError(StrCat("Custom op library ", path, ": ", dlerror()));
  }
  if (loaded->contains(library.get())) return OkStatus();
  RETURN_IF_ERROR(Register(library).WithContext(StrCat("Custom op library ", path)));
  loaded->insert(library.release());  // its code stays
  return OkStatus();
}

}  // namespace slipway::kernels
