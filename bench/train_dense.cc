// SPDX-License-Identifier: Apache-2.0
//
// Time of a training step of the dense network 784-300-100-10 as Model::Fit has it: shuffle, batch,
// step, metrics, progress. One line of JSON a workload, in the format of the peers' programs.
//   train_dense [--threads=N] [--seconds=S] [--work=mlp-sgd-b32,mlp-adam-b128]
//               [--data=DIRECTORY of Fashion-MNIST, or random] [--profile]
// --profile prints instead where a step's time goes, kernel by kernel.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "base/flags.h"
#include "base/strings.h"
#include "bench/report.h"
#include "exec/device.h"
#include "exec/executable.h"
#include "kernels/machine_probe.h"
#include "slipway/slipway.h"
#include "train/model_state.h"

namespace slipway::bench {
namespace {

struct Workload {
  const char* name;
  int64_t batch;
  bool adam;
};
constexpr Workload kWorkloads[] = {{"mlp-sgd-b32", 32, false},
                                   {"mlp-sgd-b128", 128, false},
                                   {"mlp-adam-b32", 32, true},
                                   {"mlp-adam-b128", 128, true}};

struct Settings {
  int threads = 1;
  double seconds = 2;
  std::string work;
  std::string data = "/usr/share/datasets/fashion-mnist";
  bool profile = false;
};

struct Examples {
  Tensor x, y;
};

StatusOr<Examples> Load(const std::string& directory) {
  if (directory != "random") {
    ASSIGN_OR_RETURN(auto fashion, data::FashionMnist(directory, {.validation_examples = 0}));
    return Examples{fashion.train_images, fashion.train_labels};
  }
  Examples out{Tensor(DType::kFloat, Shape({60000, 784})), Tensor(DType::kInt32, Shape({60000}))};
  std::minstd_rand rng(1);
  std::uniform_real_distribution<float> pixel(0, 1);
  for (float& v : out.x.flat<float>()) v = pixel(rng);
  for (int32_t& v : out.y.flat<int32_t>()) v = static_cast<int32_t>(rng() % 10);
  return out;
}

StatusOr<Sequential> MakeModel(const Workload& work) {
  Sequential model({layers::Flatten(), layers::Dense(300, {.activation = Activation::kRelu}),
                    layers::Dense(100, {.activation = Activation::kRelu}), layers::Dense(10)},
                   {.seed = 1});
  Optimizer optimizer =
      work.adam ? optimizers::Adam() : optimizers::Sgd({.learning_rate = 0.01, .momentum = 0.9});
  RETURN_IF_ERROR(
      model.Compile({.optimizer = std::move(optimizer),
                     .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                     .metrics = {metrics::Accuracy()}}));
  return model;
}

// Epochs are the blocks; the first one, which compiles, is not counted.
class Timer : public Callback {
 public:
  Timer(Blocks* blocks, int64_t steps, double seconds)
      : blocks_(blocks), steps_(steps), end_(ClockSeconds(CLOCK_MONOTONIC) + seconds) {}
  Status OnEpochBegin(FitControl&, int) override {
    blocks_->Begin();
    return OkStatus();
  }
  Status OnEpochEnd(FitControl& fit, int epoch, Logs&) override {
    if (epoch > 0) blocks_->End(steps_);
    if (epoch > 5 && ClockSeconds(CLOCK_MONOTONIC) > end_) fit.StopTraining("");
    return OkStatus();
  }

 private:
  Blocks* blocks_;
  int64_t steps_;
  double end_;
};

Status Time(const Workload& work, const Examples& examples, const Settings& settings) {
  ASSIGN_OR_RETURN(Sequential model, MakeModel(work));
  constexpr int64_t kSteps = 25;
  Blocks blocks;
  FitArraysOptions fit;
  fit.batch_size = work.batch;
  fit.epochs = 1 << 30;
  fit.steps_per_epoch = kSteps;
  fit.verbose = Verbose::kSilent;
  fit.callbacks = {std::make_shared<Timer>(&blocks, kSteps, settings.seconds)};
  RETURN_IF_ERROR(model.Fit(examples.x, examples.y, fit).status());
  const bool random = settings.data == "random";
  Print({.workload = StrCat("train/", work.name),
         .engine = random ? "slipway-fit-random" : "slipway-fit",
         .metric = "step",
         .threads = settings.threads,
         .batch = work.batch},
        blocks);
  return OkStatus();
}

// Multiplications and additions of a matrix product; 0 for any other node.
double FlopsOf(const exec::Executable& step, const std::string& name, int64_t batch) {
  for (const ir::Node* node : step.function().graph.nodes()) {
    if (node->name() != name || !node->op().ends_with("MatMul")) continue;
    const auto size = [&](const PartialShape& shape, int d) {
      return static_cast<double>(shape.dim(d) < 0 ? batch : shape.dim(d));
    };
    const auto transposed = node->Attr<bool>("transpose_a");
    const int inner = transposed.ok() && *transposed ? 0 : 1;
    return 2 * size(node->shape(0), 0) * size(node->shape(0), 1) *
           size(node->input(0).shape(), inner);
  }
  return 0;
}

Status Profile(const Workload& work, const Examples& examples) {
  ASSIGN_OR_RETURN(Sequential model, MakeModel(work));
  const std::vector<Tensor> batch = {examples.x.Slice(0, work.batch),
                                     examples.y.Slice(0, work.batch)};
  ASSIGN_OR_RETURN(const exec::Executable* step, model.state().TrainStep(batch));
  std::map<std::string, std::pair<std::string, int64_t>> best;  // node: op, nanoseconds
  std::vector<std::string> order;
  int64_t whole = 1 << 30;
  for (int i = 0; i < 2000; ++i) {
    exec::StepProfile profile;
    const double start = ClockSeconds(CLOCK_MONOTONIC);
    const bool timed = i % 2 == 0;
    RETURN_IF_ERROR(step->Run(batch, {}, {.profile = timed ? &profile : nullptr}));
    if (!timed && i > 20) {
      const double seconds = ClockSeconds(CLOCK_MONOTONIC) - start;
      whole = std::min(whole, static_cast<int64_t>(seconds * 1e9));
    }
    for (const exec::ProfileEvent& event : profile.events()) {
      auto [it, added] = best.try_emplace(event.node, event.op, event.end_ns - event.start_ns);
      if (added) order.push_back(event.node);
      it->second.second = std::min(it->second.second, event.end_ns - event.start_ns);
    }
  }
  const kernels::MachineLimits limits = kernels::ProbeMachine();
  double sum = 0;
  for (const auto& [node, what] : best) sum += static_cast<double>(what.second);
  std::printf("%s: %.1f us a step, %.1f us in %zu kernels (best of each); core: %.0f GFLOP/s\n",
              work.name, static_cast<double>(whole) * 1e-3, sum * 1e-3, best.size(), limits.gflops);
  for (const std::string& node : order) {
    const auto& [op, ns] = best[node];
    const double flops = FlopsOf(*step, node, work.batch);
    std::printf("%9.2f us %5.1f %%", static_cast<double>(ns) * 1e-3,
                static_cast<double>(ns) / sum * 100);
    if (flops > 0) {
      std::printf(" %6.1f GFLOP/s", flops / static_cast<double>(ns));
    } else {
      std::printf("               ");
    }
    std::printf("  %-36s %s\n", op.c_str(), node.c_str());
  }
  return OkStatus();
}

Status Run(const Settings& settings) {
  RETURN_IF_ERROR(exec::Device::ConfigureDefaultCpu(
      {.intra_op_threads = settings.threads, .inter_op_threads = settings.threads}));
  ASSIGN_OR_RETURN(const Examples examples, Load(settings.data));
  for (const Workload& work : kWorkloads) {
    if (!std::string_view(work.name).starts_with(settings.work)) continue;
    RETURN_IF_ERROR(settings.profile ? Profile(work, examples) : Time(work, examples, settings));
  }
  return OkStatus();
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  slipway::bench::Settings settings;
  int64_t threads = settings.threads;
  slipway::FlagSet flags("train_dense [flags]",
                         "Time of a training step of a dense network through Model::Fit.",
                         {{"threads", &threads, "threads in all"},
                          {"seconds", &settings.seconds, "seconds a workload"},
                          {"work", &settings.work, "the workloads whose names begin so"},
                          {"data", &settings.data, "directory of Fashion-MNIST, or random"},
                          {"profile", &settings.profile, "print where the time of a step goes"}});
  slipway::Status status = flags.Parse(argc - 1, argv + 1).status();
  if (flags.help_wanted()) {
    std::printf("%s", flags.Help().c_str());
    return 0;
  }
  settings.threads = static_cast<int>(threads);
  if (status.ok()) status = slipway::bench::Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
