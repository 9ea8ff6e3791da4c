// SPDX-License-Identifier: Apache-2.0
//
// TensorBoard's event files: TFRecords of tensorflow.Event, in the form that TensorFlow 2 and
// Keras write (scalars as tensors with the metadata of TensorBoard's scalars plugin).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/env.h"
#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/record.h"

namespace slipway {

// Not thread safe.
class EventWriter {
 public:
  // Makes `directory` if needed and in it
  // events.out.tfevents.<seconds>.<host>.<process>.<number>.v2, which starts with the version
  // record. The number distinguishes the writers of one process.
  static StatusOr<std::unique_ptr<EventWriter>> Create(Env* env, const std::string& directory,
                                                       Clock* clock = Clock::Default());
  ~EventWriter();  // closes, without a report of errors

  Status AddScalar(std::string_view tag, int64_t step, float value);
  // A text as TensorBoard's text plugin shows it (Markdown).
  Status AddText(std::string_view tag, int64_t step, std::string_view text);
  // A serialised tensorflow.GraphDef.
  Status AddGraph(std::string_view graph_def);

  // After an epoch: what was added is in the file.
  Status Flush() { return records_->Flush(); }
  Status Close();
  const std::string& path() const { return path_; }

 private:
  EventWriter(std::unique_ptr<RecordWriter> records, std::string path, Clock* clock)
      : records_(std::move(records)), path_(std::move(path)), clock_(clock) {}
  Status WriteSummary(std::string_view tag, int64_t step, std::string_view plugin, int data_class,
                      const Tensor& tensor);

  std::unique_ptr<RecordWriter> records_;
  std::string path_;
  Clock* clock_;
  bool closed_ = false;
};

struct ScalarEvent {
  double wall_time = 0;  // seconds since the epoch
  int64_t step = 0;
  std::string tag;
  float value = 0;
};

// The scalars of one event file in order, in the tensor form and in the old simple_value form;
// other events are passed over. A file whose writer still runs may end within a record: what is
// whole is given. DATA_LOSS for a wrong checksum.
StatusOr<std::vector<ScalarEvent>> ReadScalarEvents(Env* env, const std::string& path);

}  // namespace slipway
