// SPDX-License-Identifier: Apache-2.0
#include "train/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/curves.h"

namespace slipway::train {
namespace {

using testing::HasSubstr;

TEST(ProgressTest, DrawsAKerasBar) {
  FakeClock clock;
  std::string out;
  Progress progress(Verbose::kBar, &clock, [&](std::string_view text) { out += text; });
  progress.Begin("Epoch 1/10", 1719);
  EXPECT_EQ(out, "Epoch 1/10\n");
  EXPECT_FALSE(progress.Due());
  clock.Advance(std::chrono::milliseconds(101));
  EXPECT_TRUE(progress.Due());
  EXPECT_FALSE(progress.Due());  // at most ten times a second
  clock.Advance(std::chrono::milliseconds(1619));
  out.clear();
  progress.End(1719, {{"loss", 0.37}, {"accuracy", 0.87}});
  EXPECT_EQ(out,
            "\r\x1b[K\x1b[1m1719/1719\x1b[0m "
            "\x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m "
            "\x1b[1m1s\x1b[0m 1ms/step - accuracy: 0.8700 - loss: 0.3700\n");
}

TEST(ProgressTest, WritesALineWithoutATerminal) {
  FakeClock clock;
  std::string out;
  Progress progress(Verbose::kLine, &clock, [&](std::string_view text) { out += text; });
  progress.Begin("Epoch 2/3", std::nullopt);
  clock.Advance(std::chrono::seconds(65));
  EXPECT_FALSE(progress.Due());
  progress.End(10, {{"loss", 0.0004}});
  EXPECT_EQ(out, "Epoch 2/3 - 10/10 - 1:05 - 6s/step - loss: 4.0000e-04\n");
}

TEST(ProgressTest, NanHasNoSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(FormatLogs({{"a", -nan}, {"b", nan}, {"c", 1}}), "a: nan - b: nan - c: 1.0000");
}

TEST(CurvesTest, DrawsEveryMetricWithItsValidation) {
  History history;
  history.epochs = {0, 1, 2};
  history.history = {{"loss", {3, 2, 1}}, {"val_loss", {3.5, 2.5, 2}}, {"a<b", {1, 1, 1}}};
  std::string svg = CurvesSvg(history);
  EXPECT_THAT(svg, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_THAT(svg, HasSubstr("epoch 3: 1<"));
  EXPECT_THAT(svg, HasSubstr("epoch 3: 2<"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  std::string text = CurvesText(history, "loss", {.width = 10, .height = 4});
  EXPECT_THAT(text, HasSubstr("val_loss"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
}

TEST(CurvesTest, LeavesOutWhatIsNotFinite) {
  History history;
  history.epochs = {0, 1};
  history.history = {{"loss", {1, std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_THAT(CurvesSvg(history), testing::Not(HasSubstr("nan")));
  EXPECT_FALSE(CurvesText(history, "loss").empty());
}

}  // namespace
}  // namespace slipway::train
