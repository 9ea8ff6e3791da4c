// SPDX-License-Identifier: Apache-2.0
#include "model/graph_layout.h"

#include <algorithm>
#include <cstdint>

namespace slipway::model {
namespace {

using Neighbours = std::vector<std::vector<size_t>>;

struct Layered {
  std::vector<size_t> layer;                // of each node
  std::vector<std::vector<size_t>> layers;  // nodes from left to right
  Neighbours above, below;
};

// The longest way from the top; nodes come in an order in which edges lead forward.
Layered MakeLayers(size_t n, const std::vector<std::pair<int, int>>& edges) {
  Layered g{std::vector<size_t>(n), {}, Neighbours(n), Neighbours(n)};
  for (const auto& [from, to] : edges) {
    if (from < 0 || from >= to || static_cast<size_t>(to) >= n) continue;
    g.above[static_cast<size_t>(to)].push_back(static_cast<size_t>(from));
    g.below[static_cast<size_t>(from)].push_back(static_cast<size_t>(to));
  }
  for (size_t i = 0; i < n; ++i) {
    for (const size_t up : g.above[i]) g.layer[i] = std::max(g.layer[i], g.layer[up] + 1);
  }
  // A source stands right above the first that needs it.
  for (size_t i = n; i-- > 0;) {
    if (!g.above[i].empty() || g.below[i].empty()) continue;
    size_t first = SIZE_MAX;
    for (const size_t down : g.below[i]) first = std::min(first, g.layer[down]);
    g.layer[i] = first - 1;
  }
  for (size_t i = 0; i < n; ++i) {
    if (g.layer[i] >= g.layers.size()) g.layers.resize(g.layer[i] + 1);
    g.layers[g.layer[i]].push_back(i);
  }
  return g;
}

double Mean(const std::vector<size_t>& nodes, const std::vector<double>& x, double otherwise) {
  if (nodes.empty()) return otherwise;
  double sum = 0;
  for (const size_t node : nodes) sum += x[node];
  return sum / static_cast<double>(nodes.size());
}

// Puts the nodes of a layer as near as they may to where they want to be, in their order.
void Place(const std::vector<size_t>& nodes, const std::vector<double>& wanted,
           const std::vector<double>& widths, double gap, std::vector<double>* x) {
  double left = -1e18;
  double shift = 0;
  for (const size_t node : nodes) {
    (*x)[node] = std::max(wanted[node], left + widths[node] / 2);
    left = (*x)[node] + widths[node] / 2 + gap;
    shift += (*x)[node] - wanted[node];
  }
  // What was pushed to the right is taken back in the mean.
  for (const size_t node : nodes) (*x)[node] -= shift / static_cast<double>(nodes.size());
}

}  // namespace

Layout LayOutGraph(const std::vector<double>& widths, const std::vector<std::pair<int, int>>& edges,
                   const LayoutOptions& options) {
  Layered g = MakeLayers(widths.size(), edges);
  Layout out;
  out.x.assign(widths.size(), 0);
  out.y.assign(widths.size(), 0);
  std::vector<double> wanted(widths.size(), 0);
  for (auto& nodes : g.layers) Place(nodes, wanted, widths, options.gap, &out.x);
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (size_t step = 0; step < g.layers.size(); ++step) {
      auto& nodes = g.layers[down ? step : g.layers.size() - 1 - step];
      for (const size_t node : nodes) {
        wanted[node] = Mean(down ? g.above[node] : g.below[node], out.x, out.x[node]);
      }
      std::ranges::stable_sort(nodes, {}, [&](size_t node) { return wanted[node]; });
      Place(nodes, wanted, widths, options.gap, &out.x);
    }
  }
  double left = 0;
  double right = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    left = i == 0 ? out.x[i] - widths[i] / 2 : std::min(left, out.x[i] - widths[i] / 2);
    right = i == 0 ? out.x[i] + widths[i] / 2 : std::max(right, out.x[i] + widths[i] / 2);
    out.y[i] = (static_cast<double>(g.layer[i]) + 0.5) * options.row_height;
  }
  for (double& x : out.x) x -= left;
  out.width = right - left;
  out.height = static_cast<double>(g.layers.size()) * options.row_height;
  return out;
}

}  // namespace slipway::model
