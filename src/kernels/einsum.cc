// SPDX-License-Identifier: Apache-2.0
//
// Einsum of one or two tensors: each is brought into the order (batch, free, contracted) by one
// strided copy, in which repeated labels walk a diagonal and broadcast ones stand still; then it is
// a product of matrices.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/matrix_product.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Labels are numbers: letters below 64, the dimensions of an ellipsis from there, counted from the
// right.
constexpr int64_t kEllipsis = 64;
constexpr size_t kLabels = 64 + Shape::kMaxRank;

struct Equation {
  std::vector<std::string> inputs;  // an ellipsis is one '.'
  std::string output;
};

StatusOr<std::string> ParseTerm(std::string_view text, std::string_view equation) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      term.push_back('.');
      i += 2;
    } else if ((text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z') {
      term.push_back(text[i]);
    } else {
      return InvalidArgumentError(StrCat("Invalid character '", text.substr(i, 1),
                                         "' in the einsum equation ", Quoted(equation)));
    }
  }
  if (std::count(term.begin(), term.end(), '.') > 1) {
    return InvalidArgumentError(
        StrCat("More than one ellipsis in a term of the einsum equation ", Quoted(equation)));
  }
  return term;
}

StatusOr<Equation> ParseEquation(const std::string& given) {
  std::string text;
  for (char ch : given) {
    if (ch != ' ') text.push_back(ch);
  }
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find("->", arrow + 2) != std::string::npos) {
    return InvalidArgumentError(
        StrCat("Expecting exactly one '->' in einsum equation: ", Quoted(given)));
  }
  Equation equation;
  ASSIGN_OR_RETURN(equation.output, ParseTerm(text.substr(arrow + 2), given));
  std::string_view rest = std::string_view(text).substr(0, arrow);
  for (;;) {
    const size_t comma = rest.find(',');
    ASSIGN_OR_RETURN(std::string term, ParseTerm(rest.substr(0, comma), given));
    equation.inputs.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  for (char ch : equation.output) {
    const bool known = std::any_of(equation.inputs.begin(), equation.inputs.end(),
                                   [ch](const std::string& t) { return t.find(ch) < t.size(); });
    if (ch == '.' || known) continue;
    return InvalidArgumentError(StrCat("Label '", std::string(1, ch), "' of the output is in no ",
                                       "input of the einsum equation ", Quoted(given)));
  }
  if (equation.inputs.size() > 2) {
    return InvalidArgumentError(StrCat("Expecting 1 or 2 input subscripts in equation '", given,
                                       "' but got: ", equation.inputs.size()));
  }
  return equation;
}

// The labels of a term of so many dimensions.
IntVec Expand(const std::string& term, int64_t ellipsis) {
  IntVec labels;
  for (char ch : term) {
    if (ch != '.') {
      labels.push_back(ch - 'A');
      continue;
    }
    for (int64_t i = ellipsis; i-- > 0;) labels.push_back(kEllipsis + i);
  }
  return labels;
}

struct Operand {
  const Tensor* tensor = nullptr;
  IntVec labels;
  std::array<bool, kLabels> has{};
};

// What one run works with.
struct Contraction {
  std::array<int64_t, kLabels> size;
  std::array<bool, kLabels> in_output{};
  std::vector<Operand> operands;
  IntVec output;

  int64_t Size(const IntVec& labels) const {
    int64_t n = 1;
    for (int64_t l : labels) n *= size[static_cast<size_t>(l)];
    return n;
  }
};

Status AddOperand(const std::string& term, const Tensor& tensor, Contraction* work,
                  int64_t* widest_ellipsis) {
  const bool open = term.find('.') != std::string::npos;
  const int64_t named = static_cast<int64_t>(term.size()) - (open ? 1 : 0);
  const int64_t ellipsis = tensor.rank() - named;
  if (ellipsis < 0 || (!open && ellipsis != 0)) {
    return InvalidArgumentError(StrCat("Expected input ", work->operands.size(), " to have rank ",
                                       open ? "at least " : "", named,
                                       " but got rank: ", tensor.rank()));
  }
  *widest_ellipsis = std::max(*widest_ellipsis, open ? ellipsis : 0);
  Operand operand;
  operand.tensor = &tensor;
  operand.labels = Expand(term, ellipsis);
  for (int d = 0; d < tensor.rank(); ++d) {
    const auto label = static_cast<size_t>(operand.labels[static_cast<size_t>(d)]);
    operand.has[label] = true;
    int64_t& size = work->size[label];
    const bool broadcasts = label >= kEllipsis;
    if (size < 0 || (broadcasts && size == 1)) {
      size = tensor.dim(d);
    } else if (size != tensor.dim(d) && !(broadcasts && tensor.dim(d) == 1)) {
      return InvalidArgumentError(StrCat("Expected dimension ", size, " at axis ", d,
                                         " of the input shaped ", tensor.shape().ToString(),
                                         " but got dimension ", tensor.dim(d)));
    }
  }
  work->operands.push_back(std::move(operand));
  return OkStatus();
}

// How far the operand moves with each of these labels.
IntVec StridesOf(const Contraction& work, const Operand& operand, const IntVec& order) {
  const IntVec own = RowMajorStrides(operand.tensor->shape());
  IntVec strides;
  for (int64_t label : order) {
    int64_t stride = 0;
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      const bool stands = operand.tensor->dim(static_cast<int>(d)) == 1;
      if (operand.labels[d] == label && !stands) stride += own[d];
    }
    strides.push_back(work.size[static_cast<size_t>(label)] == 1 ? 0 : stride);
  }
  return strides;
}

StatusOr<Tensor> ScratchTensor(KernelContext& c, DType dtype, int64_t n) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(n), DTypeSize(dtype), &bytes)) {
    return InvalidArgumentError(StrCat("Einsum needs a tensor of ", n, " elements"));
  }
  void* memory = c.Scratch(bytes + 1);
  if (memory == nullptr) return ResourceExhaustedError("No memory for einsum");
  return Tensor::Borrow(dtype, Shape({n}), memory);
}

using EinsumTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

// Sums of every `run` elements that lie together.
Status SumRuns(const Tensor& x, int64_t run, Tensor* y) {
  const bool known = SwitchType<bool>(EinsumTypes{}, x.dtype(), [&]<typename T>() {
    const T* from = x.flat<T>().data();
    for (T& out : y->flat<T>()) {
      WideOf<T> total{};
      for (int64_t i = 0; i < run; ++i) total = WrapAdd(total, Widen(from[i]));
      out = T(total);
      from += run;
    }
    return true;
  });
  return known ? OkStatus() : UnimplementedError(StrCat("Einsum of ", DTypeName(x.dtype())));
}

// The operand as dense memory in this order of labels, whatever else it has summed away.
StatusOr<Tensor> Arrange(KernelContext& c, const Contraction& work, const Operand& operand,
                         const IntVec& order) {
  IntVec all = order;
  int64_t summed = 1;
  for (size_t label = 0; label < kLabels; ++label) {
    const auto l = static_cast<int64_t>(label);
    if (!operand.has[label] || std::find(order.begin(), order.end(), l) != order.end()) continue;
    all.push_back(l);
    summed *= work.size[label];
  }
  IntVec dims;
  for (int64_t label : all) dims.push_back(work.size[static_cast<size_t>(label)]);
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  const IntVec from = StridesOf(work, operand, all), to = RowMajorStrides(shape);
  bool in_order = true;
  for (size_t d = 0; d < dims.size(); ++d) in_order &= dims[d] == 1 || from[d] == to[d];
  Tensor dense = *operand.tensor;
  if (!in_order || shape.num_elements() != dense.num_elements()) {
    ASSIGN_OR_RETURN(dense, ScratchTensor(c, dense.dtype(), shape.num_elements()));
    StridedCopy(dense.dtype(), dims.span(), operand.tensor->raw_data(), from.span(),
                dense.raw_data(), to.span(), &c.intra_op());
  }
  if (all.size() == order.size()) return dense;
  ASSIGN_OR_RETURN(Tensor sums, ScratchTensor(c, dense.dtype(), work.Size(order)));
  RETURN_IF_ERROR(SumRuns(dense, summed, &sums));
  return sums;
}

// The output from `value`, which lies in this order of the output's labels.
Status Deliver(KernelContext& c, const Contraction& work, const Tensor& value,
               const IntVec& order) {
  IntVec dims;
  for (int64_t label : work.output) dims.push_back(work.size[static_cast<size_t>(label)]);
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  if (order.size() != work.output.size() && y->num_elements() > 0) {
    std::memset(y->raw_data(), 0, y->byte_size());  // a label twice: only its diagonal is set
  }
  const IntVec own = RowMajorStrides(shape);
  IntVec sizes, to;
  for (int64_t label : order) {
    int64_t stride = 0;
    for (size_t d = 0; d < work.output.size(); ++d) {
      if (work.output[d] == label) stride += own[d];
    }
    sizes.push_back(work.size[static_cast<size_t>(label)]);
    to.push_back(stride);
  }
  const Shape from_shape(sizes.span());
  StridedCopy(y->dtype(), sizes.span(), value.raw_data(), RowMajorStrides(from_shape).span(),
              y->raw_data(), to.span(), &c.intra_op());
  return OkStatus();
}

void AppendOnce(IntVec* labels, int64_t label) {
  if (std::find(labels->begin(), labels->end(), label) == labels->end()) labels->push_back(label);
}

IntVec Joined(const IntVec& a, const IntVec& b, const IntVec& d) {
  IntVec all = a;
  for (int64_t label : b) all.push_back(label);
  for (int64_t label : d) all.push_back(label);
  return all;
}

Status ContractPair(KernelContext& c, const Contraction& work) {
  const Operand& a = work.operands[0];
  const Operand& b = work.operands[1];
  IntVec batch, free_a, free_b, contracted;
  for (int64_t label : work.output) {
    const auto l = static_cast<size_t>(label);
    AppendOnce(a.has[l] && b.has[l] ? &batch : a.has[l] ? &free_a : &free_b, label);
  }
  for (int64_t label : a.labels) {
    const auto l = static_cast<size_t>(label);
    if (b.has[l] && !work.in_output[l]) AppendOnce(&contracted, label);
  }
  ASSIGN_OR_RETURN(Tensor x, Arrange(c, work, a, Joined(batch, free_a, contracted)));
  ASSIGN_OR_RETURN(Tensor y, Arrange(c, work, b, Joined(batch, contracted, free_b)));
  const IntVec order = Joined(batch, free_a, free_b);
  ASSIGN_OR_RETURN(Tensor product, ScratchTensor(c, x.dtype(), work.Size(order)));
  RETURN_IF_ERROR(MultiplyMatrices(c, work.Size(batch), work.Size(free_a), work.Size(free_b),
                                   work.Size(contracted), x, y, &product));
  return Deliver(c, work, product, order);
}

StatusOr<KernelFn> BindEinsum(const BindContext& bind) {
  ASSIGN_OR_RETURN(Equation equation,
                   ParseEquation(AttrOr<std::string>(*bind.node, "equation", "")));
  return KernelFn([equation](KernelContext& c) -> Status {
    if (c.num_inputs() != static_cast<int>(equation.inputs.size())) {
      return InvalidArgumentError(
          StrCat("Expected ", equation.inputs.size(),
                 " inputs of the einsum equation but got: ", c.num_inputs()));
    }
    Contraction work;
    work.size.fill(-1);
    int64_t ellipsis = 0;
    for (int i = 0; i < c.num_inputs(); ++i) {
      RETURN_IF_ERROR(
          AddOperand(equation.inputs[static_cast<size_t>(i)], c.input(i), &work, &ellipsis));
    }
    if (ellipsis > 0 && equation.output.find('.') == std::string::npos) {
      return InvalidArgumentError(StrCat("Output contains ", ellipsis,
                                         " broadcasting dimension(s) but no ellipsis (...) was "
                                         "found in the output subscripts."));
    }
    work.output = Expand(equation.output, ellipsis);
    for (int64_t label : work.output) work.in_output[static_cast<size_t>(label)] = true;
    if (c.num_inputs() == 2) return ContractPair(c, work);
    IntVec order;
    for (int64_t label : work.output) AppendOnce(&order, label);
    ASSIGN_OR_RETURN(Tensor value, Arrange(c, work, work.operands[0], order));
    return Deliver(c, work, value, order);
  });
}

}  // namespace

std::span<const KernelDef> EinsumKernels() {
  static const std::vector<KernelDef> table =
      MakeKernels({{"Einsum", BindEinsum, EinsumTypes::DTypes(), "T", {}, {}, /*expensive=*/true}});
  return table;
}

}  // namespace slipway::kernels
