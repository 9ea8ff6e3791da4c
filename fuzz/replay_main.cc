// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target without libFuzzer, on any compiler: on every file of the folders and files
// given, so that what fuzzing once found stays fixed, and with --mutations=N on N changes of them,
// if the target has a mutator of its own.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) __attribute__((weak));
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) __attribute__((weak));

namespace {

using Input = std::vector<uint8_t>;

void Read(const std::filesystem::path& path, std::vector<Input>* inputs) {
  std::ifstream file(path, std::ios::binary);
  inputs->emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void ReadAll(const std::filesystem::path& path, std::vector<Input>* inputs) {
  if (!std::filesystem::is_directory(path)) return Read(path, inputs);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) Read(entry.path(), inputs);
  }
}

// Each change may build upon earlier ones. The input under way is kept in a file, which stays after
// a crash.
void Mutate(std::vector<Input> inputs, long mutations, unsigned seed, const std::string& last) {
  constexpr size_t kMaxSize = 1 << 20;
  constexpr size_t kKept = 20'000;
  std::mt19937 random(seed);
  for (long i = 0; i < mutations; ++i) {
    Input input = inputs[random() % inputs.size()];
    const size_t size = input.size();
    input.resize(std::max(size, kMaxSize));
    input.resize(LLVMFuzzerCustomMutator(input.data(), size, input.size(), random()));
    std::ofstream(last, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    LLVMFuzzerTestOneInput(input.data(), input.size());
    if (inputs.size() < kKept && random() % 4 == 0) inputs.push_back(std::move(input));
  }
  std::filesystem::remove(last);
}

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  std::vector<Input> inputs;
  long mutations = 0;
  unsigned seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with("--mutations=")) {
      mutations = std::atol(arg.substr(12).data());
    } else if (arg.starts_with("--seed=")) {
      seed = static_cast<unsigned>(std::atol(arg.substr(7).data()));
    } else {
      ReadAll(arg, &inputs);
    }
  }
  for (const Input& input : inputs) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::printf("%zu inputs replayed\n", inputs.size());
  if (mutations > 0 && LLVMFuzzerCustomMutator != nullptr && !inputs.empty()) {
    Mutate(inputs, mutations, seed, std::string(argv[0]) + ".last");
    std::printf("%ld mutations run\n", mutations);
  }
  return inputs.empty() ? 1 : 0;
}
