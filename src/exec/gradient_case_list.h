// SPDX-License-Identifier: Apache-2.0
//
// What cases of gradient_test.cc are written with.
#pragma once

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "exec/gradient_cases.h"

namespace slipway::exec::gradient_cases {

using ir::AttrMap;
using ir::GraphBuilder;
using ir::Output;
using Outputs = std::vector<Output>;
using Make = decltype(GradientCase::make);

// Values between lo and hi in an order without pattern, all different.
inline Tensor Values(const Shape& shape, float lo, float hi, int phase = 0) {
  Tensor t(DType::kFloat, shape);
  const auto n = static_cast<size_t>(t.num_elements());
  for (size_t i = 0; i < n; ++i) {
    const size_t place = (i * 7 + static_cast<size_t>(phase) * 3) % (n % 7 == 0 ? n + 1 : n);
    t.flat<float>()[i] =
        lo + (hi - lo) * (static_cast<float>(place) + 0.5f) / static_cast<float>(n + 1);
  }
  return t;
}
// Away from zero, both signs.
inline Tensor Signed(const Shape& shape, int phase = 0) {
  // The shift keeps values of different phases apart: Maximum must not tie.
  const float lo = 0.3f + 0.031f * static_cast<float>(phase);
  Tensor t = Values(shape, lo, lo + 1, phase);
  for (size_t i = 1; i < t.flat<float>().size(); i += 2) t.flat<float>()[i] *= -1;
  return t;
}
inline Tensor Positive(const Shape& shape, int phase = 0) {
  return Values(shape, 0.5f, 1.7f, phase);
}
inline Tensor Unit(const Shape& shape, int phase = 0) {
  return Values(shape, -0.75f, 0.75f, phase);
}
inline Tensor Ints(std::initializer_list<int32_t> values) {
  return Tensor::Vector<int32_t>(values);
}

class Cases {
 public:
  void Add(const std::string& name, const std::string& op, std::vector<Tensor> inputs, Make make) {
    cases_.push_back({name, op, std::move(inputs), std::move(make)});
  }
  // The op on all inputs.
  void Plain(const std::string& op, std::vector<Tensor> inputs, AttrMap attrs = {},
             const std::string& suffix = "") {
    std::string name = op + suffix;
    name[0] = static_cast<char>(std::toupper(name[0]));
    Add(name, op, std::move(inputs),
        [op, attrs](GraphBuilder& b, const Outputs& x) { return b.Ops(op, x, attrs); });
  }
  GradientCase& last() { return cases_.back(); }
  std::vector<GradientCase>& all() { return cases_; }
  std::vector<GradientCase> Take() { return std::move(cases_); }

 private:
  std::vector<GradientCase> cases_;
};

// The families that have a file of their own.
void AddFunctional(Cases& c);  // gradient_functional_cases_test.cc
void AddLists(Cases& c);       // gradient_functional_cases_test.cc
void AddLinalg(Cases& c);      // gradient_linalg_cases_test.cc
void AddSegments(Cases& c);    // gradient_linalg_cases_test.cc
void AddSpecial(Cases& c);     // gradient_linalg_cases_test.cc
void AddWindows(Cases& c);     // gradient_window_cases_test.cc

}  // namespace slipway::exec::gradient_cases
