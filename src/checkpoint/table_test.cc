// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/table.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <map>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/crc32c.h"

namespace slipway {
namespace {

using Entries = std::map<std::string, std::string>;

std::string Written(const Entries& entries) {
  const auto env = NewMemoryEnv();
  auto file = *env->OpenForWriting("table");
  TableWriter writer(file.get());
  for (const auto& [key, value] : entries) EXPECT_TRUE(writer.Add(key, value).ok());
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(file->Close().ok());
  return *ReadFile(env.get(), "table");
}

StatusOr<Entries> Read(std::string bytes) {
  ASSIGN_OR_RETURN(const TableReader reader,
                   TableReader::FromBytes(std::move(bytes), "dir/x.index", TableReader::Options()));
  Entries entries;
  RETURN_IF_ERROR(reader.ForEach([&](std::string_view key, std::string_view value) {
    entries.emplace(key, value);
    return OkStatus();
  }));
  return entries;
}

Entries Many() {
  Entries entries = {{"", "header"}};
  for (int i = 0; i < 2000; ++i) {
    entries[StrCat("layer/", i % 37, "/weight/", i)] =
        std::string(static_cast<size_t>(i % 50), 'v');
  }
  return entries;
}

TEST(Table, ReadsBackManyBlocks) {
  EXPECT_EQ(*Read(Written(Many())), Many());
  EXPECT_EQ(*Read(Written({})), Entries());
}

TEST(Table, KeysMustIncrease) {
  const auto env = NewMemoryEnv();
  auto file = *env->OpenForWriting("table");
  TableWriter writer(file.get());
  EXPECT_TRUE(writer.Add("b", "").ok());
  EXPECT_EQ(writer.Add("a", "").code(), Code::kInvalidArgument);
  EXPECT_EQ(writer.Add("b", "").code(), Code::kInvalidArgument);
}

TEST(Table, EveryFlippedBitAndEveryCutIsSeen) {
  const Entries entries = {{"", "header"}, {"a", "1"}, {"ab", "22"}, {"b", ""}};
  const std::string good = Written(entries);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto read = Read(bad);
    // The padding of the footer means nothing.
    if (read.ok()) {
      EXPECT_EQ(*read, entries) << i;
      EXPECT_GE(i, good.size() - 48) << "a flip within a block went unseen";
    } else {
      EXPECT_EQ(read.status().code(), Code::kDataLoss) << read.status().ToString();
      EXPECT_NE(read.status().message().find("dir/x.index"), std::string::npos);
    }
  }
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Read(good.substr(0, n)).ok()) << n;
}

std::string Footer(uint64_t offset, uint64_t size) {
  std::string footer;
  for (uint64_t part : {offset, size, offset, size}) AppendVarint(&footer, part);
  footer.resize(40);
  AppendFixed64(&footer, 0xdb4775248b80fb57);
  return footer;
}

TEST(Table, HugeHandles) {
  for (uint64_t huge : {uint64_t{1} << 32, ~uint64_t{0}, ~uint64_t{0} - 4}) {
    EXPECT_EQ(Read(Footer(0, huge)).status().code(), Code::kDataLoss);
    EXPECT_EQ(Read(Footer(huge, 10)).status().code(), Code::kDataLoss);
    EXPECT_EQ(Read(std::string(100, 'x') + Footer(huge, huge)).status().code(), Code::kDataLoss);
  }
}

void AppendBlock(std::string* file, std::string contents, bool compress, std::string* handle) {
  if (compress) {
    std::string packed;
    snappy::Compress(contents.data(), contents.size(), &packed);
    contents = packed;
  }
  AppendVarint(handle, file->size());
  AppendVarint(handle, contents.size());
  contents.push_back(compress ? 1 : 0);
  const uint32_t crc = MaskedCrc32c(contents);
  file->append(contents);
  AppendFixed32(file, crc);
}

std::string BlockOf(std::string_view key, std::string_view value) {
  std::string block;
  AppendVarint(&block, 0);
  AppendVarint(&block, key.size());
  AppendVarint(&block, value.size());
  block.append(key).append(value);
  AppendFixed32(&block, 0);
  AppendFixed32(&block, 1);
  return block;
}

TEST(Table, ReadsCompressedBlocks) {
  std::string file;
  std::string data_handle;
  std::string index_handle;
  AppendBlock(&file, BlockOf("key", std::string(5000, 'z')), true, &data_handle);
  AppendBlock(&file, BlockOf("key", data_handle), true, &index_handle);
  std::string footer = index_handle + index_handle;  // no meta index: any block will do
  footer.resize(40);
  AppendFixed64(&footer, 0xdb4775248b80fb57);
  EXPECT_EQ(*Read(file + footer), (Entries{{"key", std::string(5000, 'z')}}));
}

}  // namespace
}  // namespace slipway
