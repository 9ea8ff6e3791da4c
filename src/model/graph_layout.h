// SPDX-License-Identifier: Apache-2.0
//
// Places for the nodes of a graph without cycles: layers from top to bottom, each node below all
// that it depends on, ordered so that few edges cross.
#pragma once

#include <utility>
#include <vector>

namespace slipway::model {

struct LayoutOptions {
  double row_height = 64;
  double gap = 18;  // between neighbours
  int sweeps = 8;   // over the layers, to undo crossings
};

struct Layout {
  std::vector<double> x, y;  // of the middle of each node
  double width = 0, height = 0;
};

// `widths` of the nodes; `edges` from and to indices, from the earlier to the later: an edge with
// from >= to is left out.
Layout LayOutGraph(const std::vector<double>& widths, const std::vector<std::pair<int, int>>& edges,
                   const LayoutOptions& options = {});

}  // namespace slipway::model
