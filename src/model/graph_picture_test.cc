// SPDX-License-Identifier: Apache-2.0
#include "model/graph_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/saved_model_reader.h"
#include "model/entry_points.h"
#include "model/graph_layout.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(GraphLayout, NodesStandBelowWhatTheyNeedAndApart) {
  // A diamond, a source that only the last one needs, and an edge that leads back (left out).
  const std::vector<std::pair<int, int>> edges = {{0, 1}, {0, 2}, {1, 4}, {2, 4}, {3, 4}, {4, 0}};
  const std::vector<double> widths = {50, 60, 70, 80, 90};
  const Layout layout = LayOutGraph(widths, edges, {.gap = 10});
  for (const auto& [from, to] : edges) {
    if (from > to) continue;
    EXPECT_LT(layout.y[from], layout.y[to]) << from << " " << to;
  }
  EXPECT_EQ(layout.y[3], layout.y[1]);  // right above the one that needs it
  for (size_t a = 0; a < widths.size(); ++a) {
    EXPECT_GE(layout.x[a] - widths[a] / 2, -1e-6);
    EXPECT_LE(layout.x[a] + widths[a] / 2, layout.width + 1e-6);
    for (size_t b = a + 1; b < widths.size(); ++b) {
      if (layout.y[a] != layout.y[b]) continue;
      EXPECT_GE(std::abs(layout.x[a] - layout.x[b]), (widths[a] + widths[b]) / 2 + 10 - 1e-6);
    }
  }
  EXPECT_EQ(LayOutGraph({}, {}).height, 0);
}

TEST(GraphPicture, CallsAreFoldedAndLinked) {
  const auto file =
      formats::ReadSavedModel(Env::Default(), "tests/golden/saved_models/branches/saved_model");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const formats::MetaGraph& mg = file->meta_graphs[0];
  const auto function =
      ExtractSignature(mg, "serving_default", mg.signatures.at("serving_default"));
  ASSERT_TRUE(function.ok()) << function.status().ToString();
  const auto svg = DrawFunction(*function, mg.functions.get());
  ASSERT_TRUE(svg.ok()) << svg.status().ToString();
  EXPECT_THAT(*svg, testing::StartsWith("<svg "));
  EXPECT_THAT(*svg, HasSubstr(">argument</text>"));
  EXPECT_THAT(*svg, HasSubstr(">StatelessIf</text>"));
  EXPECT_THAT(*svg, HasSubstr("<a href=\"#__inference"));
  EXPECT_THAT(*svg, HasSubstr("<text id=\"__inference"));
  EXPECT_THAT(*svg, Not(HasSubstr(">Const</text>")));
  const auto alone = DrawFunction(*function, nullptr);
  EXPECT_THAT(*alone, Not(HasSubstr(">StatelessIf</text>")));
  EXPECT_THAT(*DrawFunction(*function, nullptr, {.max_nodes = 1}), HasSubstr("too many to draw"));
}

}  // namespace
}  // namespace slipway::model
