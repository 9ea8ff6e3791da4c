// SPDX-License-Identifier: Apache-2.0
#include "exec/op_cost.h"

#include <array>

namespace slipway::exec {
namespace {

double Elements(const Tensor& t) { return static_cast<double>(t.num_elements()); }

double LastDim(const Tensor& t) {
  return t.rank() > 0 ? static_cast<double>(std::max<int64_t>(t.dim(t.rank() - 1), 1)) : 1;
}

// Rows of the result tell which dimension of `a` is summed over, transposed or not.
double Product(const Tensor& a, const Tensor& out) {
  if (a.rank() < 2 || out.rank() < 2) return 0;
  const int64_t rows = out.dim(out.rank() - 2);
  const int64_t first = a.dim(a.rank() - 2);
  const int64_t summed = first == rows ? a.dim(a.rank() - 1) : first;
  return 2 * Elements(out) * static_cast<double>(summed);
}

// Every label's size is multiplied, an ellipsis left out.
double Contraction(const ir::Node* node, std::span<const Tensor> inputs, const Tensor& out) {
  const auto* value = node != nullptr ? node->FindAttr("equation") : nullptr;
  const auto* equation = value != nullptr ? value->As<std::string>() : nullptr;
  if (equation == nullptr) return Elements(out);
  std::array<double, 128> sizes{};
  size_t operand = 0;
  int at = 0;
  for (const char c : *equation) {
    if (c == '-' || operand >= inputs.size()) break;
    if (c == ',') {
      ++operand;
      at = 0;
    } else if (c > ' ' && c != '.' && at < inputs[operand].rank()) {
      sizes[static_cast<size_t>(c) & 127] = static_cast<double>(inputs[operand].dim(at++));
    }
  }
  double all = 1;
  for (const double size : sizes) all *= size > 0 ? size : 1;
  return inputs.size() == 2 ? 2 * all : Elements(out);
}

double Flops(std::string_view op, const ir::Node* node, std::span<const Tensor> in,
             const Tensor& out) {
  const auto is = [&](std::string_view name) { return op == name; };
  if (in.size() >= 2) {
    if (is("MatMul") || is("_FusedMatMul") || op.starts_with("BatchMatMul")) {
      return Product(in[0], out);
    }
    if (is("Conv2D") || is("Conv3D") || is("_FusedConv2D")) {
      return 2 * Elements(out) * Elements(in[1]) / LastDim(in[1]);
    }
    if (is("DepthwiseConv2dNative") && in[1].rank() == 4) {
      return 2 * Elements(out) * static_cast<double>(in[1].dim(0) * in[1].dim(1));
    }
    if (is("Einsum")) return Contraction(node, in, out);
  }
  if (in.size() == 3 && (is("Conv2DBackpropInput") || is("Conv3DBackpropInputV2"))) {
    return 2 * Elements(in[2]) * Elements(in[1]) / LastDim(in[1]);
  }
  if (in.size() == 3 && (is("Conv2DBackpropFilter") || is("Conv3DBackpropFilterV2"))) {
    return 2 * Elements(in[2]) * Elements(out) / LastDim(out);
  }
  double most = Elements(out);
  for (const Tensor& input : in) most = std::max(most, input.valid() ? Elements(input) : 0);
  return IsFloating(out.dtype()) ? most : 0;
}

bool IsView(std::span<const Tensor> inputs, const Tensor& out) {
  for (const Tensor& input : inputs) {
    if (input.valid() && input.raw_data() == out.raw_data()) return true;
  }
  return false;
}

}  // namespace

OpCost CostOf(std::string_view op, const ir::Node* node, std::span<const Tensor> inputs,
              std::span<const Tensor> outputs) {
  OpCost cost;
  if (outputs.empty() || !outputs[0].valid()) return cost;
  const bool moves_nothing = op == "Identity" || op == "Reshape" || op == "Squeeze" ||
                             op == "ExpandDims" || op == "ReadVariableOp" || op == "Shape" ||
                             op == "StopGradient";
  if (moves_nothing && IsView(inputs, outputs[0])) return cost;
  cost.flops = moves_nothing ? 0 : Flops(op, node, inputs, outputs[0]);
  for (const Tensor& t : inputs) cost.bytes += t.valid() ? static_cast<double>(t.byte_size()) : 0;
  for (const Tensor& t : outputs) cost.bytes += t.valid() ? static_cast<double>(t.byte_size()) : 0;
  return cost;
}

}  // namespace slipway::exec
