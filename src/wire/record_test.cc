// SPDX-License-Identifier: Apache-2.0
#include "wire/record.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/events.h"

namespace slipway {
namespace {

// tf.io.TFRecordWriter: records "hello" and "".
constexpr char kTensorFlows[] = "BQAAAAAAAADqsgQ+aGVsbG+7HxwZAAAAAAAAAAApA5gH2OqCog==";

StatusOr<std::vector<std::string>> ReadAll(Env* env, const std::string& path, size_t buffer) {
  RecordReader::Options options;
  options.buffer_bytes = buffer;
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(env, path, options));
  std::vector<std::string> records;
  while (true) {
    std::string_view record;
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) return records;
    records.emplace_back(record);
  }
}

TEST(Record, ReadsAndWritesTensorFlowsBytes) {
  const auto env = NewMemoryEnv();
  const std::string bytes = *DecodeBase64(kTensorFlows);
  ASSERT_TRUE(WriteFile(env.get(), "a", bytes).ok());
  EXPECT_EQ(*ReadAll(env.get(), "a", 1000), (std::vector<std::string>{"hello", ""}));
  RecordWriter writer(*env->OpenForWriting("b"));
  ASSERT_TRUE(writer.Write("hello").ok());
  ASSERT_TRUE(writer.Write("").ok());
  ASSERT_TRUE(writer.Close().ok());
  EXPECT_EQ(*ReadFile(env.get(), "b"), bytes);
  std::string framed;
  AppendRecord("hello", &framed);
  AppendRecord("", &framed);
  EXPECT_EQ(framed, bytes);
}

TEST(Record, AnyBufferSizeAndSeek) {
  const auto env = NewMemoryEnv();
  std::string bytes;
  std::vector<std::string> wanted;
  for (size_t i = 0; i < 200; ++i) {
    wanted.push_back(std::string(i * 7 % 301, static_cast<char>('a' + i % 26)));
    AppendRecord(wanted.back(), &bytes);
  }
  ASSERT_TRUE(WriteFile(env.get(), "a", bytes).ok());
  for (size_t buffer : {1u, 13u, 100u, 1000000u}) {
    EXPECT_EQ(*ReadAll(env.get(), "a", buffer), wanted);
  }
  const auto reader = *RecordReader::Open(env.get(), "a");
  std::string_view record;
  ASSERT_TRUE(reader->Next(&record).ok());
  const uint64_t second = reader->offset();
  ASSERT_TRUE(reader->Next(&record).ok());
  ASSERT_TRUE(reader->Next(&record).ok());
  reader->Seek(second);
  ASSERT_TRUE(*reader->Next(&record));
  EXPECT_EQ(record, wanted[1]);
}

TEST(Record, CutsAndFlippedBits) {
  const auto env = NewMemoryEnv();
  std::string good;
  AppendRecord("some bytes", &good);
  for (size_t n = 1; n < good.size(); ++n) {
    ASSERT_TRUE(WriteFile(env.get(), "a", good.substr(0, n)).ok());
    const auto reader = *RecordReader::Open(env.get(), "a");
    std::string_view record;
    const Status status = reader->Next(&record).status();
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_TRUE(reader->truncated());
    EXPECT_EQ(status.message().substr(0, 2), "a:") << status.ToString();
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    ASSERT_TRUE(WriteFile(env.get(), "a", bad).ok());
    EXPECT_EQ(ReadAll(env.get(), "a", 100).status().code(), Code::kDataLoss) << i;
  }
}

TEST(Events, ScalarsReadBackAndAHalfWrittenEndIsNoError) {
  const auto env = NewMemoryEnv();
  FakeClock clock;
  auto writer = *EventWriter::Create(env.get(), "logs/train", &clock);
  EXPECT_NE(writer->path().find("logs/train/events.out.tfevents.1700000000."), std::string::npos);
  EXPECT_TRUE(writer->path().ends_with(".v2"));
  ASSERT_TRUE(writer->AddScalar("epoch_loss", 0, 0.5f).ok());
  clock.Advance(std::chrono::milliseconds(1500));
  ASSERT_TRUE(writer->AddText("notes", 0, "**text**").ok());
  ASSERT_TRUE(writer->AddScalar("epoch_loss", 1, 0.25f).ok());
  ASSERT_TRUE(writer->Close().ok());
  const auto events = ReadScalarEvents(env.get(), writer->path());
  ASSERT_TRUE(events.ok()) << events.status().ToString();
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[1].tag, "epoch_loss");
  EXPECT_EQ((*events)[1].step, 1);
  EXPECT_EQ((*events)[1].value, 0.25f);
  EXPECT_DOUBLE_EQ((*events)[1].wall_time, 1700000001.5);
  const std::string whole = *ReadFile(env.get(), writer->path());
  ASSERT_TRUE(WriteFile(env.get(), "cut", whole.substr(0, whole.size() - 3)).ok());
  EXPECT_EQ(ReadScalarEvents(env.get(), "cut")->size(), 1u);
}

TEST(Events, WritersOfOneProcessHaveDifferentFiles) {
  const auto env = NewMemoryEnv();
  FakeClock clock;
  const auto one = *EventWriter::Create(env.get(), "logs", &clock);
  const auto two = *EventWriter::Create(env.get(), "logs", &clock);
  EXPECT_NE(one->path(), two->path());
}

}  // namespace
}  // namespace slipway
