// SPDX-License-Identifier: Apache-2.0
#include "wire/events.h"

#include <unistd.h>

#include <atomic>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/tensor_proto.h"

namespace slipway {
namespace {

// Numbers of event.proto and summary.proto.
enum EventField : uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kGraph = 4, kSummary = 5 };
enum ValueField : uint32_t { kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9 };
constexpr int kScalarClass = 1;
constexpr int kTensorClass = 2;
constexpr std::string_view kVersion = "brain.Event:2";

std::string FileName(Clock* clock) {
  static std::atomic<int> writers{0};
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  return StrCat("events.out.tfevents.", clock->WallNanos() / 1'000'000'000, ".", host, ".",
                getpid(), ".", writers.fetch_add(1), ".v2");
}

std::string EventHeader(Clock* clock, int64_t step) {
  std::string event;
  ProtoWriter writer(&event);
  writer.Double(kWallTime, static_cast<double>(clock->WallNanos()) / 1e9);
  if (step != 0) writer.Int64(kStep, step);
  return event;
}

}  // namespace

StatusOr<std::unique_ptr<EventWriter>> EventWriter::Create(Env* env, const std::string& directory,
                                                           Clock* clock) {
  RETURN_IF_ERROR(env->CreateDirectories(directory));
  const std::string path = JoinPath(directory, FileName(clock));
  ASSIGN_OR_RETURN(auto file, env->OpenForWriting(path));
  auto records = std::make_unique<RecordWriter>(std::move(file));
  std::string event = EventHeader(clock, 0);
  ProtoWriter(&event).Bytes(kFileVersion, kVersion);
  RETURN_IF_ERROR(records->Write(event));
  RETURN_IF_ERROR(records->Flush());
  return std::unique_ptr<EventWriter>(new EventWriter(std::move(records), path, clock));
}

EventWriter::~EventWriter() { Close().IgnoreError(); }

Status EventWriter::Close() {
  if (closed_) return OkStatus();
  closed_ = true;
  return records_->Close();
}

Status EventWriter::WriteSummary(std::string_view tag, int64_t step, std::string_view plugin,
                                 int data_class, const Tensor& tensor) {
  std::string event = EventHeader(clock_, step);
  ProtoWriter writer(&event);
  const size_t summary = writer.BeginMessage(kSummary);
  const size_t value = writer.BeginMessage(1);
  writer.Bytes(kTag, tag);
  writer.BytesHeader(kTensor, TensorProtoSize(tensor, TensorEncoding::kTyped));
  RETURN_IF_ERROR(AppendTensorProto(tensor, TensorEncoding::kTyped, &event));
  const size_t metadata = writer.BeginMessage(kMetadata);
  const size_t plugin_data = writer.BeginMessage(1);
  writer.Bytes(1, plugin);
  writer.EndMessage(plugin_data);
  writer.Varint(4, static_cast<uint64_t>(data_class));
  writer.EndMessage(metadata);
  writer.EndMessage(value);
  writer.EndMessage(summary);
  return records_->Write(event);
}

Status EventWriter::AddScalar(std::string_view tag, int64_t step, float value) {
  return WriteSummary(tag, step, "scalars", kScalarClass, Tensor::Scalar(value));
}

Status EventWriter::AddText(std::string_view tag, int64_t step, std::string_view text) {
  return WriteSummary(tag, step, "text", kTensorClass, Tensor::Scalar(std::string(text)));
}

Status EventWriter::AddGraph(std::string_view graph_def) {
  std::string event = EventHeader(clock_, 0);
  ProtoWriter(&event).Bytes(kGraph, graph_def);
  return records_->Write(event);
}

namespace {

// The value of one Summary.Value, if it is a scalar.
Status ReadValue(std::string_view bytes, const ScalarEvent& event, std::vector<ScalarEvent>* out) {
  ScalarEvent scalar = event;
  bool found = false;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case BytesField(kTag):
        scalar.tag = reader.bytes();
        break;
      case Fixed32Field(kSimpleValue):
        scalar.value = reader.float32();
        found = true;
        break;
      case BytesField(kTensor): {
        const auto tensor = DecodeTensorProto(reader.bytes());
        if (tensor.ok() && tensor->dtype() == DType::kFloat && tensor->num_elements() == 1) {
          scalar.value = tensor->flat<float>()[0];
          found = true;
        }
        break;
      }
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("Summary.Value"));
  if (found) out->push_back(std::move(scalar));
  return OkStatus();
}

Status ReadEvent(std::string_view bytes, std::vector<ScalarEvent>* out) {
  ScalarEvent event;
  std::vector<std::string_view> summaries;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == Fixed64Field(kWallTime)) event.wall_time = reader.float64();
    if (reader.tag() == VarintField(kStep)) event.step = reader.int64();
    if (reader.tag() == BytesField(kSummary)) summaries.push_back(reader.bytes());
  }
  RETURN_IF_ERROR(reader.status("Event"));
  for (std::string_view summary : summaries) {
    ProtoReader values(summary);
    while (values.Next()) {
      if (values.tag() == BytesField(1)) RETURN_IF_ERROR(ReadValue(values.bytes(), event, out));
    }
    RETURN_IF_ERROR(values.status("Summary"));
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<ScalarEvent>> ReadScalarEvents(Env* env, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(env, path));
  std::vector<ScalarEvent> events;
  while (true) {
    std::string_view record;
    const StatusOr<bool> more = reader->Next(&record);
    if (!more.ok() && reader->truncated()) return events;
    if (!more.ok()) return more.status();
    if (!*more) return events;
    const Status status = ReadEvent(record, &events);
    if (!status.ok()) return DataLossError(StrCat(path, ": ", status.message()));
  }
}

}  // namespace slipway
