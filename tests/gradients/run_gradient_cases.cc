// SPDX-License-Identifier: Apache-2.0
//
// run_gradient_cases [--source=DIR] NAME...: gradients of ops and of whole graphs beside
// TensorFlow's (reference/reference_cases.h).
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "exec/executable.h"
#include "formats/saved_model_reader.h"
#include "ir/gradient.h"
#include "reference/reference_cases.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;  // inputs are in the op's order
using ir::Output;

StatusOr<DType> TypeNamed(const std::string& name) {
  for (int i = 1; i < 64; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (DTypeName(dtype) == name) return dtype;
  }
  return InvalidArgumentError(StrCat("unknown dtype ", name));
}

// {"dtype", "shape", "npy"}, {"dtype", "shape": [], "value"}, {"dtype": "string", "strings"}.
StatusOr<Tensor> ReadTensor(const std::string& folder, const Json& j) {
  if (j.contains("npy")) {
    return ReadNpy(Env::Default(), folder + "/" + j.at("npy").get<std::string>());
  }
  Json typed = {{"dtype", j.at("dtype")}, {"shape", j.at("shape")}};
  typed["values"] = j.contains("strings") ? j.at("strings") : Json::array({j.at("value")});
  const Json request = {{"inputs", {{"value", std::move(typed)}}}};
  ASSIGN_OR_RETURN(TensorJsonRequest read,
                   ParseTensorJsonRequest(request.dump(), Env::Default(), folder));
  return std::move(read.calls.at(0).inputs.at(0).second);
}

bool Near(const Tensor& got, const Tensor& want, double rtol, double atol, std::string* why) {
  if (!(got.shape() == want.shape())) {
    *why = StrCat("has shape ", got.shape().ToString(), ", wanted ", want.shape().ToString());
    return false;
  }
  const auto at = [](const Tensor& t, size_t i) -> double {
    switch (t.dtype()) {
      case DType::kFloat:
        return static_cast<double>(t.flat<float>()[i]);
      case DType::kDouble:
        return t.flat<double>()[i];
      case DType::kInt32:
        return t.flat<int32_t>()[i];
      case DType::kInt64:
        return static_cast<double>(t.flat<int64_t>()[i]);
      case DType::kBool:
        return t.flat<bool>()[i] ? 1 : 0;
      default:
        return NAN;
    }
  };
  for (size_t i = 0; i < static_cast<size_t>(want.num_elements()); ++i) {
    const double g = at(got, i), w = at(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (std::abs(g - w) <= atol + rtol * std::abs(w)) continue;
    *why = StrCat("element ", i, " is ", g, ", wanted ", w);
    return false;
  }
  return true;
}

StatusOr<ir::AttrValue> Attr(const ir::OpSchema::Attr& schema, const Json& j) {
  if (j.is_boolean()) return ir::AttrValue(j.get<bool>());
  if (j.is_number_integer() && schema.type == "int") return ir::AttrValue(j.get<int64_t>());
  if (j.is_number()) return ir::AttrValue(j.get<float>());
  if (j.is_string() && schema.type == "type") {
    ASSIGN_OR_RETURN(const DType dtype, TypeNamed(j.get<std::string>()));
    return ir::AttrValue(dtype);
  }
  if (j.is_string()) return ir::AttrValue(j.get<std::string>());
  if (j.is_array()) return ir::AttrValue(j.get<std::vector<int64_t>>());
  return InvalidArgumentError(StrCat("attribute ", schema.name, ": ", j.dump()));
}

// What a case is made of: a function of the inputs, and the library that it calls.
struct Subject {
  ir::Function function;
  std::shared_ptr<ir::FunctionLibrary> library = std::make_shared<ir::FunctionLibrary>();
  std::vector<std::pair<std::string, Output>> inputs;  // several of one name where it is a list
  std::vector<Output> outputs;
  std::vector<Tensor> values;
};

Status AddInput(Subject* subject, const std::string& folder, const std::string& name,
                const Json& j) {
  ASSIGN_OR_RETURN(Tensor value, ReadTensor(folder, j));
  ASSIGN_OR_RETURN(const Output arg,
                   subject->function.AddArg(name, value.dtype(), PartialShape(value.shape())));
  subject->inputs.emplace_back(name, arg);
  subject->values.push_back(std::move(value));
  return OkStatus();
}

StatusOr<Subject> ReadOp(const std::string& folder, const Json& c) {
  Subject subject;
  const std::string op = c.at("op");
  const ir::OpSchema* schema = ir::FindOpSchema(op);
  if (schema == nullptr) return UnimplementedError(StrCat("no op ", op));
  ir::AttrMap attrs;
  for (const auto& attr : schema->attrs) {
    if (!c.at("attrs").contains(attr.name)) continue;
    ASSIGN_OR_RETURN(attrs[attr.name], Attr(attr, c.at("attrs").at(attr.name)));
  }
  ir::GraphBuilder b(&subject.function.graph);
  std::vector<Output> inputs;
  for (const auto& [name, value] : c.at("inputs").items()) {
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      RETURN_IF_ERROR(AddInput(&subject, folder, name, one));
    }
  }
  // Shapes, axes and counts are constants where a gradient needs to know them.
  for (size_t i = 0; i < subject.inputs.size(); ++i) {
    const bool constant = !IsFloating(subject.values[i].dtype());
    inputs.push_back(constant ? b.Const(subject.values[i]) : subject.inputs[i].second);
  }
  subject.outputs = b.Ops(op, std::move(inputs), std::move(attrs));
  RETURN_IF_ERROR(b.status());
  return subject;
}

// A GraphDef as the one graph of a SavedModel, for the reader.
std::string AsSavedModel(const std::string& graph) {
  const auto field = [](char tag, const std::string& bytes) {
    std::string out(1, tag);
    for (size_t n = bytes.size(); true; n >>= 7) {
      if (n < 128) return out + static_cast<char>(n) + bytes;
      out += static_cast<char>(n % 128 + 128);
    }
  };
  return field('\x12', field('\x0a', field('\x22', "serve")) + field('\x12', graph));
}

StatusOr<Output> Named(const ir::Graph& graph, const std::string& tensor) {
  const size_t colon = tensor.rfind(':');
  ir::Node* node = graph.FindNode(tensor.substr(0, colon));
  if (node == nullptr) return NotFoundError(StrCat("no node for ", tensor));
  return Output{node, std::stoi(tensor.substr(colon + 1))};
}

StatusOr<Subject> ReadGraph(const std::string& folder, const Json& c) {
  const std::string path = folder + "/" + c.at("graph").get<std::string>();
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(Env::Default(), path));
  const std::unique_ptr<Env> files = NewMemoryEnv();
  RETURN_IF_ERROR(files->CreateDirectories("/m"));
  RETURN_IF_ERROR(WriteFile(files.get(), "/m/saved_model.pb", AsSavedModel(bytes)));
  ASSIGN_OR_RETURN(formats::SavedModelFile file, formats::ReadSavedModel(files.get(), "/m"));
  formats::MetaGraph& meta = file.meta_graphs.at(0);
  ir::SubgraphSpec spec;
  spec.name = "case";
  Subject subject;
  for (const auto& [name, tensor] : c.at("feeds").items()) {
    ASSIGN_OR_RETURN(const Output fed, Named(meta.graph, tensor));
    ASSIGN_OR_RETURN(Tensor value, ReadTensor(folder, c.at("inputs").at(name)));
    spec.feeds.emplace_back(name, fed);
    subject.values.push_back(std::move(value));
  }
  for (const auto& tensor : c.at("fetches")) {
    ASSIGN_OR_RETURN(const Output fetched, Named(meta.graph, tensor));
    spec.fetches.emplace_back(StrCat("r", spec.fetches.size()), fetched);
  }
  ASSIGN_OR_RETURN(subject.function, ir::ExtractFunction(meta.graph, spec));
  for (const auto& arg : subject.function.args)
    subject.inputs.emplace_back(arg.name, Output{arg.node, 0});
  for (const auto& result : subject.function.returns) subject.outputs.push_back(result.value);
  subject.function.returns.clear();
  subject.library = meta.functions;
  return subject;
}

// A gradient: a tensor, or rows of one, which add up.
StatusOr<Tensor> ReadGradient(const std::string& folder, const Json& j) {
  if (!j.contains("indexed_slices")) return ReadTensor(folder, j);
  const Json& slices = j.at("indexed_slices");
  ASSIGN_OR_RETURN(const Tensor indices, ReadTensor(folder, slices.at("indices")));
  ASSIGN_OR_RETURN(const Tensor values, ReadTensor(folder, slices.at("values")));
  ASSIGN_OR_RETURN(const Shape shape,
                   Shape::FromDims(slices.at("dense_shape").get<std::vector<int64_t>>()));
  Tensor dense(DType::kFloat, shape);
  std::fill_n(dense.flat<float>().data(), dense.num_elements(), 0.0f);
  const int64_t row = dense.num_elements() / std::max<int64_t>(1, shape.dim(0));
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const auto k = static_cast<size_t>(i);
    const int64_t to =
        indices.dtype() == DType::kInt32 ? indices.flat<int32_t>()[k] : indices.flat<int64_t>()[k];
    for (int64_t e = 0; e < row; ++e) {
      dense.flat<float>()[static_cast<size_t>(to * row + e)] +=
          values.flat<float>()[static_cast<size_t>(i * row + e)];
    }
  }
  return dense;
}

// Results: the outputs that are stated, then a gradient for each input that carries one.
struct Wanted {
  std::vector<Tensor> results;
  std::vector<std::string> names;
};

Status AddWanted(Subject* s, const std::string& folder, const Json& c, Wanted* wanted) {
  const Json& expect = c.at("expect");
  std::vector<Output> ys, dys, xs;
  for (size_t i = 0; i < expect.at("outputs").size(); ++i) {
    ASSIGN_OR_RETURN(Tensor value, ReadTensor(folder, expect.at("outputs")[i]));
    s->function.returns.push_back({StrCat("y", i), s->outputs.at(i)});
    wanted->results.push_back(std::move(value));
    wanted->names.push_back(StrCat("output ", i));
    if (expect.at("upstream")[i].is_null()) continue;
    ASSIGN_OR_RETURN(Tensor upstream, ReadTensor(folder, expect.at("upstream")[i]));
    ASSIGN_OR_RETURN(const Output dy, s->function.AddArg(StrCat("dy", i), upstream.dtype(),
                                                         PartialShape(upstream.shape())));
    ir::GraphBuilder b(&s->function.graph);
    dys.push_back(s->outputs[i].dtype() == dy.dtype()
                      ? dy
                      : b.Op("Cast", {dy}, {{"DstT", s->outputs[i].dtype()}}));
    ys.push_back(s->outputs[i]);
    s->values.push_back(std::move(upstream));
  }
  std::map<std::string, size_t> place;
  std::vector<Json> stated;
  std::vector<std::string> names;
  for (const auto& [name, input] : s->inputs) {
    const Json& of = expect.at("gradients").at(name);
    const size_t at = place[name]++;
    const Json& one = of.is_array() ? of.at(at) : of;
    if (!IsFloating(input.dtype())) continue;
    xs.push_back(input);
    stated.push_back(one);
    names.push_back(StrCat("gradient of ", name));
  }
  ir::GraphBuilder b(&s->function.graph);
  ASSIGN_OR_RETURN(const std::vector<Output> dxs,
                   ir::AddGradients(b, ys, xs, dys, s->library.get()));
  for (size_t i = 0; i < xs.size(); ++i) {
    if (stated[i].is_null()) {
      if (dxs[i].valid()) return InternalError(StrCat(names[i], " is there, wanted none"));
      continue;
    }
    if (!dxs[i].valid()) return InternalError(StrCat(names[i], " is not there"));
    ASSIGN_OR_RETURN(Tensor value, ReadGradient(folder, stated[i]));
    s->function.returns.push_back({names[i], dxs[i]});
    wanted->results.push_back(std::move(value));
    wanted->names.push_back(names[i]);
  }
  return OkStatus();
}

Status Check(const std::string& folder, const Json& c) {
  ASSIGN_OR_RETURN(Subject subject,
                   c.at("kind") == "op" ? ReadOp(folder, c) : ReadGraph(folder, c));
  Wanted wanted;
  RETURN_IF_ERROR(AddWanted(&subject, folder, c, &wanted));
  exec::CompileOptions options;
  options.library = subject.library.get();
  ASSIGN_OR_RETURN(const auto executable,
                   exec::Executable::Compile(std::move(subject.function), options));
  std::vector<Tensor> results(wanted.results.size());
  RETURN_IF_ERROR(executable->Run(subject.values, results));
  for (size_t i = 0; i < results.size(); ++i) {
    std::string why;
    if (Near(results[i], wanted.results[i], c.value("rtol", 1e-5), c.value("atol", 1e-6), &why))
      continue;
    return InternalError(StrCat(wanted.names[i], " ", why));
  }
  return OkStatus();
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  const slipway::ReferenceGroup group = {
      .name = "gradients", .kind = "", .lists = "tests/gradients", .check = slipway::Check};
  return slipway::RunReferenceCases(group, argc, argv);
}
