// SPDX-License-Identifier: Apache-2.0
//
// Training curves as pictures: SVG for files, characters for the terminal.
#pragma once

#include <string>
#include <vector>

#include "slipway/callbacks.h"

namespace slipway::train {

// One panel for each metric, with its val_ curve; standalone SVG. Values that are not finite are
// left out.
std::string CurvesSvg(const History& history);

struct TerminalPlotOptions {
  int width = 32;   // columns of a drawing
  int height = 12;  // rows
};
// One curve and its val_ curve in Braille dots, with scales.
std::string CurvesText(const History& history, const std::string& metric,
                       const TerminalPlotOptions& options = {});

}  // namespace slipway::train
