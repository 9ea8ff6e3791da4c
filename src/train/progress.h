// SPDX-License-Identifier: Apache-2.0
//
// What Fit shows while it runs: on a terminal a bar in Keras's style, drawn again at most ten times
// a second; elsewhere one line an epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "slipway/callbacks.h"
#include "slipway/model.h"

namespace slipway::train {

// "accuracy: 0.8712 - loss: 0.3700", alphabetical; small values as 3.7000e-04.
std::string FormatLogs(const Logs& logs);
// "2s", "1:05", and "1ms/step", "250us/step".
std::string FormatDuration(double seconds);
std::string FormatPerStep(double seconds);

// Not thread safe.
class Progress {
 public:
  using Write = std::function<void(std::string_view)>;
  // kAuto is a bar if standard output is a terminal.
  Progress(Verbose verbose, Clock* clock, Write write);
  // To standard output.
  Progress(Verbose verbose, Clock* clock);

  // `title` is "Epoch 1/10", or empty (Evaluate).
  void Begin(std::string title, std::optional<int64_t> steps);
  // Whether it is time to draw; costs a look at the clock.
  bool Due();
  void Draw(int64_t step, const Logs& logs);
  void End(int64_t steps, const Logs& logs);
  // A line of its own, above the bar.
  void Say(std::string_view text);

 private:
  std::string Line(int64_t step, const Logs& logs, bool done) const;

  bool silent_;
  bool bar_;
  Clock* clock_;
  Write write_;
  std::string title_;
  std::optional<int64_t> steps_;
  int64_t start_ns_ = 0;
  int64_t next_draw_ns_ = 0;
  bool line_open_ = false;
};

}  // namespace slipway::train
