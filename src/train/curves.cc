// SPDX-License-Identifier: Apache-2.0
#include "train/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace slipway::train {
namespace {

constexpr int kPanelWidth = 520;
constexpr int kPanelHeight = 300;
constexpr int kLeft = 60;
constexpr int kRight = 16;
constexpr int kTop = 34;
constexpr int kBottom = 36;
constexpr const char* kTrainColour = "#2563eb";
constexpr const char* kValidationColour = "#ea580c";

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Cover(const std::vector<double>& values) {
    for (double v : values) {
      if (!std::isfinite(v)) continue;
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
  // Something to draw in, also for no values and for a flat curve.
  void Open() {
    if (low > high) low = 0, high = 1;
    double margin = high > low ? (high - low) * 0.05 : std::max(std::abs(high) * 0.05, 1e-3);
    low -= margin;
    high += margin;
  }
  double Share(double v) const { return (v - low) / (high - low); }
};

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

double XOf(size_t i, size_t n) {
  double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.5;
  return kLeft + share * (kPanelWidth - kLeft - kRight);
}

double YOf(double value, const Range& range) {
  return kTop + (1 - range.Share(value)) * (kPanelHeight - kTop - kBottom);
}

void AppendCurve(std::string* out, const std::vector<double>& values, size_t n, const Range& range,
                 const char* colour) {
  std::string points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    points += fmt::format("{:.1f},{:.1f} ", XOf(i, n), YOf(values[i], range));
    *out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>epoch {}: {:.4g}"
        "</title></circle>\n",
        XOf(i, n), YOf(values[i], range), colour, i + 1, values[i]);
  }
  *out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                      points, colour);
}

void AppendAxes(std::string* out, const std::vector<int>& epochs, const Range& range) {
  for (int tick = 0; tick <= 4; ++tick) {
    double value = range.low + (range.high - range.low) * tick / 4;
    double y = YOf(value, range);
    *out += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#e5e7eb\"/>\n"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n",
        kLeft, y, kPanelWidth - kRight, y, kLeft - 6, y + 4, value);
  }
  size_t n = epochs.size();
  size_t stride = std::max<size_t>(1, (n + 9) / 10);
  for (size_t i = 0; i < n; i += stride) {
    *out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", XOf(i, n),
                        kPanelHeight - kBottom + 18, epochs[i] + 1);
  }
}

std::string Panel(const History& history, const std::string& metric) {
  const std::vector<double>& train = history[metric];
  const std::vector<double>& validation = history[StrCat("val_", metric)];
  Range range;
  range.Cover(train);
  range.Cover(validation);
  range.Open();
  std::string out;
  AppendAxes(&out, history.epochs, range);
  AppendCurve(&out, train, history.epochs.size(), range, kTrainColour);
  if (!validation.empty()) {
    AppendCurve(&out, validation, history.epochs.size(), range, kValidationColour);
  }
  out += fmt::format("<text x=\"{}\" y=\"20\" font-weight=\"bold\">{}</text>\n", kLeft,
                     Escaped(metric));
  out += fmt::format(
      "<text x=\"{}\" y=\"20\" text-anchor=\"end\"><tspan fill=\"{}\">training"
      "</tspan>{}</text>\n",
      kPanelWidth - kRight, kTrainColour,
      validation.empty()
          ? std::string()
          : fmt::format("  <tspan fill=\"{}\">validation</tspan>", kValidationColour));
  return out;
}

std::vector<std::string> Metrics(const History& history) {
  std::vector<std::string> out;
  for (const auto& [name, values] : history.history) {
    if (!name.starts_with("val_")) out.push_back(name);
  }
  return out;
}

// Two by four dots a character, as Unicode's Braille patterns have them.
class DotCanvas {
 public:
  DotCanvas(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<size_t>(columns * rows)) {}
  int width() const { return columns_ * 2; }
  int height() const { return rows_ * 4; }
  void Set(int x, int y) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    static constexpr int kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[static_cast<size_t>(y / 4 * columns_ + x / 2)] |= kBits[y % 4][x % 2];
  }
  void Line(int x0, int y0, int x1, int y1) {
    int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      Set(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
    }
  }
  std::string Row(int row) const {
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      int code = 0x2800 + cells_[static_cast<size_t>(row * columns_ + c)];
      out += static_cast<char>(0xE0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
    return out;
  }

 private:
  int columns_;
  int rows_;
  std::vector<int> cells_;
};

void Draw(DotCanvas* canvas, const std::vector<double>& values, size_t n, const Range& range) {
  auto x = [&](size_t i) {
    return n > 1 ? static_cast<int>(i * static_cast<size_t>(canvas->width() - 1) / (n - 1)) : 0;
  };
  auto y = [&](double v) {
    return static_cast<int>((1 - range.Share(v)) * (canvas->height() - 1) + 0.5);
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    bool joined = i > 0 && std::isfinite(values[i - 1]);
    joined ? canvas->Line(x(i - 1), y(values[i - 1]), x(i), y(values[i]))
           : canvas->Set(x(i), y(values[i]));
  }
}

}  // namespace

std::string CurvesSvg(const History& history) {
  std::vector<std::string> metrics = Metrics(history);
  int width = kPanelWidth * static_cast<int>(std::max<size_t>(1, metrics.size()));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#374151\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, kPanelHeight);
  for (size_t i = 0; i < metrics.size(); ++i) {
    out += fmt::format("<g transform=\"translate({},0)\">\n{}</g>\n",
                       kPanelWidth * static_cast<int>(i), Panel(history, metrics[i]));
  }
  return out + "</svg>\n";
}

std::string CurvesText(const History& history, const std::string& metric,
                       const TerminalPlotOptions& options) {
  const std::vector<double>& train = history[metric];
  const std::vector<double>& validation = history[StrCat("val_", metric)];
  Range range;
  range.Cover(train);
  range.Cover(validation);
  range.Open();
  DotCanvas first(options.width, options.height);
  Draw(&first, train, history.epochs.size(), range);
  DotCanvas second(options.width, options.height);
  Draw(&second, validation, history.epochs.size(), range);
  // Side by side: two curves in one picture need colour, which a log file does not have.
  bool both = !validation.empty();
  std::string out = fmt::format("{:>9} {:<{}}{}\n", "", metric, options.width + 2,
                                both ? StrCat("val_", metric) : "");
  for (int row = 0; row < options.height; ++row) {
    double value = range.high - (range.high - range.low) * (row + 0.5) / options.height;
    out += fmt::format("{:>9.3g} │{}", value, first.Row(row));
    if (both) StrAppend(&out, " │", second.Row(row));
    out += '\n';
  }
  return out;
}

}  // namespace slipway::train
