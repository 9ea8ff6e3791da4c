// SPDX-License-Identifier: Apache-2.0
#include "exec/validator.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/strings.h"
#include "ir/printer.h"

namespace slipway::exec {
namespace {

// What a run leaves behind.
struct Outcome {
  std::vector<Tensor> results;
  std::map<std::string, Tensor> variables;
};

StatusOr<Tensor> RandomTensor(DType dtype, const Shape& shape, std::mt19937_64& random) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> small(0, 2);
  auto fill = [&]<typename T>(T, auto&& make) {
    for (T& element : tensor.flat<T>()) element = static_cast<T>(make());
  };
  switch (dtype) {
    case DType::kFloat:
      fill(float(), [&] { return real(random); });
      return tensor;
    case DType::kDouble:
      fill(double(), [&] { return real(random); });
      return tensor;
    case DType::kInt32:
      fill(int32_t(), [&] { return small(random); });
      return tensor;
    case DType::kInt64:
      fill(int64_t(), [&] { return small(random); });
      return tensor;
    case DType::kBool:
      fill(bool(), [&] { return small(random) == 0; });
      return tensor;
    case DType::kString:
      for (std::string& text : tensor.flat<std::string>()) text = StrCat("s", small(random));
      return tensor;
    default:
      return UnimplementedError(StrCat("The validator makes no random ", DTypeName(dtype),
                                       " values; give them in ValidatorOptions::inputs"));
  }
}

template <typename T>
std::string CompareNumbers(const Tensor& a, const Tensor& b, double tolerance) {
  double scale = 1;
  for (const T& v : a.flat<T>()) {
    const double magnitude = std::abs(static_cast<double>(v));
    if (std::isfinite(magnitude)) scale = std::max(scale, magnitude);
  }
  for (size_t i = 0; i < a.flat<T>().size(); ++i) {
    const auto x = static_cast<double>(a.flat<T>()[i]);
    const auto y = static_cast<double>(b.flat<T>()[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::abs(x - y) <= tolerance * scale)) {
      return StrCat("element ", i, " is ", y, ", was ", x);
    }
  }
  return "";
}

// Empty if they are the same.
std::string Compare(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return StrCat("it is ", b.ToString(), ", was ", a.ToString());
  }
  if (a.dtype() == DType::kFloat) return CompareNumbers<float>(a, b, tolerance);
  if (a.dtype() == DType::kDouble) return CompareNumbers<double>(a, b, tolerance);
  if (a.dtype() == DType::kString) {
    auto x = a.flat<std::string>();
    auto y = b.flat<std::string>();
    return std::equal(x.begin(), x.end(), y.begin()) ? "" : "its strings differ";
  }
  if (IsObject(a.dtype())) return "";
  return std::memcmp(a.raw_data(), b.raw_data(), a.byte_size()) == 0
             ? ""
             : StrCat("it is ", b.ToString(), ", was ", a.ToString());
}

class Validator {
 public:
  Validator(const ir::PassContext& context, const ValidatorOptions& options)
      : context_(context), options_(options) {}

  // Empty if the pass changes nothing that can be seen. An error if the function does not run.
  StatusOr<std::string> Difference(const ir::Function& function, const ir::Pass& pass) const {
    ASSIGN_OR_RETURN(ir::Function after, function.Clone());
    std::string note;
    const Status passed = pass.run(after, context_, &note);
    const Status valid = passed.ok() ? after.graph.Validate() : passed;
    for (int run = 0; run < options_.runs; ++run) {
      ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputs(function, run));
      ASSIGN_OR_RETURN(const Outcome wanted, Run(function, inputs));
      if (!valid.ok()) return valid.ToString();
      StatusOr<Outcome> seen = Run(after, inputs);
      if (!seen.ok()) return seen.status().ToString();
      std::string difference = CompareOutcomes(function, wanted, *seen);
      if (!difference.empty()) return difference;
    }
    return std::string();
  }

  // The smallest function found on which the pass still makes a difference.
  StatusOr<ir::Function> Reduce(const ir::Function& function, const ir::Pass& pass) const {
    ASSIGN_OR_RETURN(ir::Function smallest, function.Clone());
    ASSIGN_OR_RETURN(std::vector<ir::Node*> order, smallest.graph.TopologicalOrder());
    ir::SubgraphSpec spec;
    spec.name = function.name;
    for (const auto& arg : smallest.args) spec.feeds.emplace_back(arg.name, ir::Output{arg.node});
    std::optional<ir::SubgraphSpec> found = FirstWrongValue(smallest, order, pass, spec);
    if (!found.has_value()) return smallest;
    CutInputs(smallest, order, pass, &*found);
    return ir::ExtractFunction(smallest.graph, *found);
  }

 private:
  StatusOr<std::vector<Tensor>> MakeInputs(const ir::Function& function, int run) const {
    std::mt19937_64 random(options_.seed + static_cast<uint64_t>(run));
    std::vector<Tensor> inputs;
    for (const ir::Function::Arg& arg : function.args) {
      if (auto it = options_.inputs.find(arg.name); it != options_.inputs.end()) {
        inputs.push_back(it->second);
        continue;
      }
      Shape shape;
      for (int i = 0; i < arg.shape.rank(); ++i) {
        shape.AddDim(arg.shape.dim(i) >= 0 ? arg.shape.dim(i) : options_.unknown_size);
      }
      ASSIGN_OR_RETURN(Tensor input, RandomTensor(arg.dtype, shape, random));
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  StatusOr<Outcome> Run(const ir::Function& function, const std::vector<Tensor>& inputs) const {
    std::unique_ptr<kernels::ResourceContainer> resources;
    if (options_.resources) resources = options_.resources();
    CompileOptions compile;
    compile.resources = resources.get();
    compile.library = context_.library;
    compile.run_passes = false;
    compile.deterministic = true;
    ASSIGN_OR_RETURN(ir::Function copy, function.Clone());
    ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                     Executable::Compile(std::move(copy), std::move(compile)));
    Outcome outcome;
    outcome.results.resize(executable->outputs().size());
    RETURN_IF_ERROR(executable->Run(inputs, outcome.results));
    if (resources == nullptr) return outcome;
    for (const auto& [name, handle] : resources->All()) {
      const auto* variable = dynamic_cast<const kernels::Variable*>(handle.get());
      if (variable == nullptr || !variable->IsInitialized()) continue;
      ASSIGN_OR_RETURN(outcome.variables[name], variable->Read());
    }
    return outcome;
  }

  std::string CompareOutcomes(const ir::Function& function, const Outcome& wanted,
                              const Outcome& seen) const {
    if (wanted.results.size() != seen.results.size()) return "the number of results differs";
    for (size_t i = 0; i < wanted.results.size(); ++i) {
      std::string text = Compare(wanted.results[i], seen.results[i], options_.tolerance);
      if (!text.empty()) return StrCat("result '", function.returns[i].name, "': ", text);
    }
    for (const auto& [name, value] : wanted.variables) {
      auto it = seen.variables.find(name);
      if (it == seen.variables.end()) return StrCat("variable '", name, "' is not set any more");
      std::string text = Compare(value, it->second, options_.tolerance);
      if (!text.empty()) return StrCat("variable '", name, "': ", text);
    }
    return "";
  }

  bool Fails(const ir::Function& whole, const ir::SubgraphSpec& spec, const ir::Pass& pass) const {
    StatusOr<ir::Function> part = ir::ExtractFunction(whole.graph, spec);
    if (!part.ok()) return false;
    StatusOr<std::string> difference = Difference(*part, pass);
    return difference.ok() && !difference->empty();
  }

  // The first value, in the order of computation, that comes out wrong if it alone is asked for.
  std::optional<ir::SubgraphSpec> FirstWrongValue(const ir::Function& whole,
                                                  const std::vector<ir::Node*>& order,
                                                  const ir::Pass& pass,
                                                  const ir::SubgraphSpec& feeds) const {
    for (ir::Node* node : order) {
      for (int i = 0; i < node->num_outputs(); ++i) {
        if (node->op() == "_Arg" || IsObject(node->dtype(i))) continue;
        ir::SubgraphSpec spec = feeds;
        spec.fetches = {{"value", {node, i}}};
        if (Fails(whole, spec, pass)) return spec;
      }
    }
    return std::nullopt;
  }

  // Makes arguments of values where the fault still shows, latest first, then drops arguments that
  // nothing needs.
  void CutInputs(const ir::Function& whole, const std::vector<ir::Node*>& order,
                 const ir::Pass& pass, ir::SubgraphSpec* spec) const {
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      ir::Node* node = *it;
      if (node->op() == "_Arg" || node == spec->fetches[0].second.node) continue;
      if (node->num_outputs() != 1 || IsObject(node->dtype(0))) continue;
      ir::SubgraphSpec trial = *spec;
      trial.feeds.emplace_back(StrCat("cut", trial.feeds.size()), ir::Output{node, 0});
      if (Fails(whole, trial, pass)) *spec = std::move(trial);
    }
    StatusOr<ir::Function> part = ir::ExtractFunction(whole.graph, *spec);
    for (size_t i = spec->feeds.size(); part.ok() && i-- > 0;) {
      if (!part->args[i].node->users().empty()) continue;
      ir::SubgraphSpec trial = *spec;
      trial.feeds.erase(trial.feeds.begin() + static_cast<std::ptrdiff_t>(i));
      if (Fails(whole, trial, pass)) *spec = std::move(trial);
    }
  }

  const ir::PassContext& context_;
  const ValidatorOptions& options_;
};

}  // namespace

StatusOr<std::optional<PassFailure>> ValidatePasses(const ir::Function& function,
                                                    const ir::PassContext& context,
                                                    std::span<const ir::Pass> passes,
                                                    const ValidatorOptions& options) {
  const Validator validator(context, options);
  ASSIGN_OR_RETURN(ir::Function current, function.Clone());
  for (const ir::Pass& pass : passes) {
    ASSIGN_OR_RETURN(std::string difference, validator.Difference(current, pass));
    if (!difference.empty()) {
      ASSIGN_OR_RETURN(const ir::Function reduced, validator.Reduce(current, pass));
      PassFailure failure;
      failure.pass = pass.name;
      failure.difference = std::move(difference);
      failure.nodes = reduced.graph.num_nodes() - static_cast<int>(reduced.args.size());
      failure.function = ir::DebugText(reduced);
      return std::optional<PassFailure>(std::move(failure));
    }
    std::string note;
    RETURN_IF_ERROR(pass.run(current, context, &note));
  }
  return std::optional<PassFailure>();
}

}  // namespace slipway::exec
