// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string_view>

#include "ir/grad/families.h"

namespace slipway::ir {
namespace {

using Table = std::map<std::string_view, const GradientEntry*>;

const Table& GradientTable() {
  static const Table* const table = [] {
    auto* rows = new Table();
    for (auto family :
         {grad::UnaryGradients(), grad::BinaryGradients(), grad::MatMulGradients(),
          grad::NnGradients(), grad::ReduceGradients(), grad::ArrayGradients(),
          grad::IndexGradients(), grad::ConvGradients(), grad::EinsumGradients(),
          grad::ImageGradients(), grad::LinalgGradients(), grad::SegmentGradients(),
          grad::SpecialGradients(), grad::FunctionalGradients(), grad::ListGradients(),
          grad::LoopGradients(), grad::ResourceGradients(), grad::OpsWithoutGradient()}) {
      for (const GradientEntry& entry : family) rows->emplace(entry.op, &entry);
    }
    return rows;
  }();
  return *table;
}

}  // namespace

const GradientEntry* FindGradient(std::string_view op) {
  auto it = GradientTable().find(op);
  return it == GradientTable().end() ? nullptr : it->second;
}

std::vector<const GradientEntry*> AllGradients() {
  std::vector<const GradientEntry*> entries;
  for (const auto& [op, entry] : GradientTable()) entries.push_back(entry);
  return entries;
}

}  // namespace slipway::ir
