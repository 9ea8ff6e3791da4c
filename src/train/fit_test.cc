// SPDX-License-Identifier: Apache-2.0
#include "train/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/env.h"
#include "base/random.h"
#include "base/strings.h"
#include "nn/layer.h"
#include "train/callback_classes.h"
#include "wire/events.h"

namespace slipway {
namespace {

using testing::HasSubstr;

std::string TestFolder(const std::string& name) {
  std::string folder = StrCat(testing::TempDir(), "slipway_fit_", name);
  EXPECT_TRUE(Env::Default()->RemoveTree(folder).ok());
  EXPECT_TRUE(Env::Default()->CreateDirectories(folder).ok());
  return folder;
}

// Three classes that a small network can tell apart.
struct Points {
  Tensor x;
  Tensor y;
};
Points MakePoints(int64_t n) {
  Points out{Tensor(DType::kFloat, Shape({n, 4})), Tensor(DType::kInt32, Shape({n}))};
  Philox random(7);
  for (int64_t i = 0; i < n; ++i) {
    Philox::Block words = random.Next();
    int32_t label = static_cast<int32_t>(words[0] % 3);
    out.y.flat<int32_t>()[static_cast<size_t>(i)] = label;
    for (int64_t j = 0; j < 4; ++j) {
      float noise = UniformFloat(words[static_cast<size_t>(j)]);
      out.x.flat<float>()[static_cast<size_t>(i * 4 + j)] = (j == label ? 1.0f : 0.0f) + noise;
    }
  }
  return out;
}

Sequential MakeModel(uint64_t seed = 3) {
  Sequential model({layers::Dense(8, {.activation = Activation::kRelu}), layers::Dropout(0.3),
                    layers::Dense(3, {.activation = Activation::kSoftmax})},
                   {.seed = seed, .deterministic = true});
  Status compiled = model.Compile({.optimizer = optimizers::Adam({.learning_rate = 0.01}),
                                   .loss = losses::SparseCategoricalCrossentropy(),
                                   .metrics = {metrics::Accuracy()}});
  EXPECT_TRUE(compiled.ok()) << compiled.ToString();
  return model;
}

FitArraysOptions Quiet(int epochs, std::vector<CallbackPtr> callbacks = {}) {
  FitArraysOptions options;
  options.epochs = epochs;
  options.batch_size = 10;
  options.verbose = Verbose::kSilent;
  options.callbacks = std::move(callbacks);
  return options;
}

std::vector<float> Flat(const std::vector<Tensor>& weights) {
  std::vector<float> out;
  for (const Tensor& w : weights) {
    if (w.dtype() != DType::kFloat) continue;
    out.insert(out.end(), w.flat<float>().begin(), w.flat<float>().end());
  }
  return out;
}

TEST(FitTest, LearnsToTellPointsApart) {
  Points points = MakePoints(300);
  Sequential model = MakeModel();
  FitArraysOptions options = Quiet(30);
  options.validation_split = 0.2;
  auto history = model.Fit(points.x, points.y, options);
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_EQ(history->epochs.size(), 30u);
  EXPECT_LT((*history)["loss"].back(), 0.5 * (*history)["loss"].front());
  EXPECT_GT((*history)["val_accuracy"].back(), 0.9);
}

TEST(FitTest, TheSameSeedGivesTheSameBits) {
  Points points = MakePoints(100);
  std::vector<std::vector<double>> losses;
  for (int run = 0; run < 2; ++run) {
    Sequential model = MakeModel();
    auto history = model.Fit(points.x, points.y, Quiet(3));
    ASSERT_TRUE(history.ok()) << history.status().ToString();
    losses.push_back((*history)["loss"]);
  }
  EXPECT_EQ(losses[0], losses[1]);
  Sequential other = MakeModel(4);
  EXPECT_NE((*other.Fit(points.x, points.y, Quiet(3)))["loss"], losses[0]);
}

// Ends Fit with an error after so many batches, as a killed process would.
class StopAfter final : public Callback {
 public:
  explicit StopAfter(int64_t batches) : left_(batches) {}
  Status OnTrainBatchEnd(FitControl&, int64_t, const Logs&) override {
    return --left_ == 0 ? AbortedError("killed") : OkStatus();
  }

 private:
  int64_t left_;
};

TEST(ResumeTest, GoesOnBitForBitFromWithinAnEpoch) {
  Points points = MakePoints(100);
  Sequential whole = MakeModel();
  auto wanted = whole.Fit(points.x, points.y, Quiet(4));
  ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
  // Within the second epoch, at its end, and before the first checkpoint.
  for (int64_t killed_after : {14, 17, 20, 25, 2}) {
    std::string folder = TestFolder("resume");
    auto backup = [&] { return callbacks::BackupAndRestore(folder, {.save_freq_batches = 3}); };
    {
      Sequential first = MakeModel();
      auto stopped = first.Fit(points.x, points.y,
                               Quiet(4, {std::make_shared<StopAfter>(killed_after), backup()}));
      ASSERT_EQ(stopped.status().code(), Code::kAborted) << stopped.status().ToString();
    }
    Sequential second = MakeModel();
    auto history = second.Fit(points.x, points.y, Quiet(4, {backup()}));
    ASSERT_TRUE(history.ok()) << history.status().ToString();
    EXPECT_EQ(history->history, wanted->history) << "killed after " << killed_after;
    EXPECT_EQ(history->epochs, wanted->epochs);
    EXPECT_EQ(Flat(second.GetWeights()), Flat(whole.GetWeights()));
    // Training has ended well: the checkpoint is gone.
    EXPECT_FALSE(Env::Default()->Exists(JoinPath(folder, "checkpoint")));
  }
}

TEST(ResumeTest, CallbacksGoOnToo) {
  Points points = MakePoints(60);
  auto stopping = [] {
    return callbacks::EarlyStopping(
        {.monitor = "loss", .min_delta = 0.2, .patience = 3, .restore_best_weights = true});
  };
  Sequential whole = MakeModel();
  auto wanted = whole.Fit(points.x, points.y, Quiet(40, {stopping()}));
  ASSERT_TRUE(wanted.ok());
  ASSERT_LT(wanted->epochs.size(), 40u);
  std::string folder = TestFolder("resume_callbacks");
  Sequential first = MakeModel();
  auto stopped = first.Fit(points.x, points.y,
                           Quiet(40, {stopping(), std::make_shared<StopAfter>(6 * 3 + 1),
                                      callbacks::BackupAndRestore(folder)}));
  ASSERT_EQ(stopped.status().code(), Code::kAborted);
  Sequential second = MakeModel();
  auto history = second.Fit(points.x, points.y,
                            Quiet(40, {stopping(), std::make_shared<StopAfter>(1'000'000),
                                       callbacks::BackupAndRestore(folder)}));
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_EQ(history->history, wanted->history);
  EXPECT_EQ(Flat(second.GetWeights()), Flat(whole.GetWeights()));
}

TEST(ResumeTest, RefusesACheckpointOfAnotherModel) {
  Points points = MakePoints(40);
  std::string folder = TestFolder("resume_other");
  Sequential model = MakeModel();
  ASSERT_TRUE(
      model
          .Fit(points.x, points.y,
               Quiet(1, {callbacks::BackupAndRestore(folder, {.delete_checkpoint = false})}))
          .ok());
  Sequential other({layers::Dense(3)}, {.seed = 1});
  ASSERT_TRUE(other
                  .Compile({.optimizer = optimizers::Adam(),
                            .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})})
                  .ok());
  auto history = other.Fit(points.x, points.y, Quiet(2, {callbacks::BackupAndRestore(folder)}));
  EXPECT_EQ(history.status().code(), Code::kInvalidArgument) << history.status().ToString();
  EXPECT_THAT(std::string(history.status().message()), HasSubstr("dense/kernel"));
}

TEST(FitErrorsTest, NameLayerOpAndShapes) {
  Points points = MakePoints(20);
  Sequential model = MakeModel();
  ASSERT_TRUE(model.Fit(points.x, points.y, Quiet(1)).ok());
  Tensor wide(DType::kFloat, Shape({20, 5}));
  Status status = model.Fit(wide, points.y, Quiet(1)).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("[?,5]"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("[?,4]"));

  Tensor one_hot(DType::kFloat, Shape({20, 3}));
  Sequential fresh = MakeModel();
  status = fresh.Fit(points.x, one_hot, Quiet(1)).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("categorical_crossentropy"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("[?,3]"));

  EXPECT_EQ(Sequential({layers::Dense(0)}).Build({-1, 4}).code(), Code::kInvalidArgument);
  EXPECT_EQ(Sequential({layers::Dense(1, {.name = "a"}), layers::Dense(1, {.name = "a"})})
                .Build({-1, 4})
                .code(),
            Code::kAlreadyExists);
  EXPECT_EQ(Sequential({layers::Dense(1)}).Fit(points.x, points.y).status().code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(MakeModel().Fit(points.x, Tensor(DType::kInt32, Shape({3})), Quiet(1)).status().code(),
            Code::kInvalidArgument);
}

TEST(FitErrorsTest, EmptyDataIsAnError) {
  Points points = MakePoints(5);
  auto rows = data::Dataset::FromTensorSlices({points.x, points.y});
  ASSERT_TRUE(rows.ok());
  FitOptions options;
  options.verbose = Verbose::kSilent;
  Status status = MakeModel().Fit(rows->Batch(10, /*drop_remainder=*/true), options).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr("no batches"));
}

TEST(CallbackTest, TerminateOnNanStopsAtTheFirstBadBatch) {
  Points points = MakePoints(60);
  // Two layers: the product of their weights overflows.
  Sequential model({layers::Dense(3), layers::Dense(3)}, {.seed = 1});
  ASSERT_TRUE(model
                  .Compile({.optimizer = optimizers::Sgd({.learning_rate = 1e30}),
                            .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})})
                  .ok());
  auto history = model.Fit(points.x, points.y, Quiet(5, {callbacks::TerminateOnNan()}));
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_EQ(history->epochs.size(), 1u);
  EXPECT_FALSE(std::isfinite((*history)["loss"][0]));
}

TEST(CallbackTest, ModelCheckpointKeepsTheBest) {
  Points points = MakePoints(60);
  std::string folder = TestFolder("checkpoint");
  Sequential model = MakeModel();
  auto saved = callbacks::ModelCheckpoint(
      JoinPath(folder, "w-{epoch:02d}-{loss:.2f}"),
      {.monitor = "loss", .save_best_only = true, .save_weights_only = true});
  auto history = model.Fit(points.x, points.y, Quiet(3, {saved}));
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  auto name = train::FormatPath("w-{epoch:02d}-{loss:.2f}", 0, {{"loss", (*history)["loss"][0]}});
  ASSERT_TRUE(name.ok());
  EXPECT_TRUE(Env::Default()->Exists(JoinPath(folder, StrCat(*name, ".index"))));
  EXPECT_TRUE(name->starts_with("w-01-")) << *name;

  std::vector<float> trained = Flat(model.GetWeights());
  Sequential other = MakeModel(99);
  ASSERT_TRUE(other.Build({-1, 4}).ok());
  ASSERT_TRUE(model.SaveWeights(JoinPath(folder, "all")).ok());
  ASSERT_TRUE(other.LoadWeights(JoinPath(folder, "all")).ok());
  EXPECT_EQ(Flat(other.GetWeights()), trained);
}

TEST(CallbackTest, PathsNameWhatTheyLack) {
  auto path = train::FormatPath("w-{val_loss}", 0, {{"loss", 1.0}});
  EXPECT_EQ(path.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("val_loss"));
  EXPECT_EQ(train::FormatPath("{epoch:s}", 0, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(*train::FormatPath("plain", 0, {}), "plain");
}

TEST(CallbackTest, PathsRefuseWidthsThatFillTheMemory) {
  for (const char* path : {"{epoch:999999999}", "{epoch:099999999999999999999d}",
                           "{loss:.999999999f}", "{loss:100}"}) {
    auto formatted = train::FormatPath(path, 0, {{"loss", 1.0}});
    EXPECT_EQ(formatted.status().code(), Code::kInvalidArgument) << path;
    EXPECT_THAT(std::string(formatted.status().message()), HasSubstr("at most 99")) << path;
  }
  EXPECT_EQ(train::FormatPath("{loss:99.2f}", 0, {{"loss", 1.0}})->size(), 99u);
}

class FailsInEpoch final : public Callback {
 public:
  explicit FailsInEpoch(int epoch) : epoch_(epoch) {}
  Status OnEpochBegin(FitControl&, int epoch) override {
    return epoch == epoch_ ? AbortedError("enough") : OkStatus();
  }
  Status OnTrainEnd(FitControl&, const Logs&) override {
    ended = true;
    return OkStatus();
  }
  bool ended = false;

 private:
  int epoch_;
};

// Its OnTrainEnd, which drops the checkpoints, belongs to training that is complete.
TEST(FitErrorsTest, ValuesThatMakeNoSense) {
  Points points = MakePoints(30);
  Sequential model = MakeModel();
  const auto error = [&](const std::function<void(FitArraysOptions&)>& set) {
    FitArraysOptions options = Quiet(1);
    set(options);
    auto history = model.Fit(points.x, points.y, options);
    EXPECT_EQ(history.status().code(), Code::kInvalidArgument);
    return std::string(history.status().message());
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using O = FitArraysOptions&;
  EXPECT_EQ(error([](O o) { o.epochs = -1; }), "'epochs' must be at least 0, got -1");
  EXPECT_EQ(error([](O o) { o.initial_epoch = -1; }), "'initial_epoch' must be at least 0, got -1");
  EXPECT_EQ(error([](O o) { o.batch_size = 0; }), "'batch_size' must be at least 1, got 0");
  EXPECT_EQ(error([](O o) { o.validation_steps = 0; }),
            "'validation_steps' must be at least 1, got 0");
  EXPECT_EQ(error([](O o) { o.steps_per_epoch = -3; }),
            "'steps_per_epoch' must be at least 1, got -3");
  EXPECT_EQ(error([](O o) { o.validation_batch_size = 0; }),
            "'validation_batch_size' must be at least 1, got 0");
  EXPECT_THAT(error([&](O o) { o.validation_split = nan; }), HasSubstr("less than 1, got nan"));
  EXPECT_THAT(error([&](O o) {
                o.validation_split = 2;
                o.validation_data = data::Dataset::FromTensorSlices({points.x, points.y})->Batch(8);
              }),
              HasSubstr("less than 1, got 2"));
  EXPECT_THAT(error([&](O o) { o.class_weight = {{0, nan}}; }), HasSubstr("class 0"));
  EXPECT_THAT(error([](O o) { o.verbose = static_cast<Verbose>(7); }), HasSubstr("got 7"));
  EXPECT_THAT(error([](O o) { o.callbacks = {callbacks::EarlyStopping({.patience = -1})}; }),
              HasSubstr("EarlyStopping: 'patience' must be at least 0, got -1"));
  EXPECT_THAT(error([](O o) { o.callbacks = {callbacks::ReduceLrOnPlateau({.factor = 1})}; }),
              HasSubstr("'factor' must be at least 0 and less than 1, got 1"));
  EXPECT_THAT(error([](O o) { o.callbacks = {callbacks::ReduceLrOnPlateau({.cooldown = -1})}; }),
              HasSubstr("'cooldown'"));
  EXPECT_THAT(error([](O o) { o.callbacks = {callbacks::CsvLogger("/dev/null/log.csv")}; }),
              HasSubstr("CSVLogger: "));
  EXPECT_EQ(model.set_learning_rate(nan).code(), Code::kInvalidArgument);
  EXPECT_EQ(model.Evaluate(points.x, points.y, 8, {.steps = 0}).status().code(),
            Code::kInvalidArgument);
  CompileOptions compile{.optimizer = optimizers::Sgd({.learning_rate = nan}),
                         .loss = losses::SparseCategoricalCrossentropy()};
  EXPECT_THAT(model.Compile(std::move(compile)).message(), HasSubstr("'learning_rate'"));
}

// Keras: fit(epochs=2, initial_epoch=5) gives an empty history.
TEST(FitTest, EpochsBelowTheInitialOneTrainNothing) {
  Points points = MakePoints(30);
  Sequential model = MakeModel();
  FitArraysOptions options = Quiet(2);
  options.initial_epoch = 5;
  auto history = model.Fit(points.x, points.y, options);
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_TRUE(history->epochs.empty() && history->history.empty());
}

TEST(CallbackTest, BackupKeepsTheLastGoodState) {
  std::string folder = TestFolder("backup_nan");
  Points points = MakePoints(40);
  Sequential model = MakeModel();
  FitArraysOptions options = Quiet(4);
  // Good for two epochs; then the weights are no numbers any more.
  options.callbacks = {callbacks::LearningRateScheduler(
                           [](int epoch, double rate) { return epoch < 2 ? rate : 3e38; }),
                       callbacks::TerminateOnNan(), callbacks::BackupAndRestore(folder)};
  auto history = model.Fit(points.x, points.y, options);
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_FALSE(std::isfinite(history->history["loss"].back()));
  // The next run goes on behind the second epoch, with numbers.
  Sequential again = MakeModel();
  FitArraysOptions rest = Quiet(3);
  rest.callbacks = {callbacks::BackupAndRestore(folder)};
  history = again.Fit(points.x, points.y, rest);
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  EXPECT_EQ(history->epochs.size(), 3u);
  for (double loss : (*history)["loss"]) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_TRUE(Env::Default()->ListDirectory(folder)->empty());  // this one ended well
}

TEST(CallbackTest, BackupOutlivesAFailure) {
  Points points = MakePoints(30);
  std::string folder = TestFolder("backup_failure");
  auto fails = std::make_shared<FailsInEpoch>(1);
  auto history =
      MakeModel().Fit(points.x, points.y, Quiet(3, {callbacks::BackupAndRestore(folder), fails}));
  EXPECT_EQ(history.status().code(), Code::kAborted);
  EXPECT_FALSE(fails->ended);
  auto kept = Env::Default()->ListDirectory(folder);
  ASSERT_TRUE(kept.ok());
  EXPECT_FALSE(kept->empty());
}

TEST(FitTest, LabelsOutOfRangeAreNamedAsInTensorFlow) {
  Points points = MakePoints(20);
  auto labels = points.y.flat<int32_t>();
  labels[3] = 8;
  labels[5] = 9;
  const auto expect = [&](const Status& status, const char* text) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("SparseSoftmaxCrossEntropyWithLogits"));
    EXPECT_THAT(status.ToString(), HasSubstr(text));
  };
  const char* nine =
      "Received a label value of 9 which is outside the valid range of [0, 3).  Label values: ";
  FitArraysOptions options = Quiet(1);
  options.shuffle = false;
  expect(MakeModel().Fit(points.x, points.y, options).status(), nine);
  expect(MakeModel()
             .Evaluate(points.x, points.y, 10, {.verbose = Verbose::kSilent, .steps = {}})
             .status(),
         nine);
  labels[4] = -1;
  expect(MakeModel().Fit(points.x, points.y, options).status(),
         "Received a label value of -1 which is outside the valid range of [0, 3).");
}

// Ten times as many rows as there were examples.
class RepeatsRows final : public nn::Layer {
 public:
  const char* class_name() const override { return "RepeatsRows"; }
  ir::Output Call(nn::CallContext& c, ir::Output x) const override {
    return c.builder().Op("Tile", {x, c.builder().Int32Vector({10, 1})});
  }
};

TEST(PredictTest, RowsThatAreNotExamplesAreRefused) {
  auto repeats = std::make_shared<RepeatsRows>();
  repeats->set_name("repeats");
  Sequential model({layers::Layer(repeats)});
  Tensor x(DType::kFloat, Shape({6, 4}));
  auto out = model.Predict(x, 4);
  EXPECT_EQ(out.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(out.status().ToString(), HasSubstr("the input [4,4] gave the output [40,4]"));
  auto at_once = model.Predict(x, 6);
  ASSERT_TRUE(at_once.ok()) << at_once.status().ToString();
  EXPECT_EQ(at_once->shape(), Shape({60, 4}));
}

TEST(CallbackTest, CsvLoggerWritesAsKeras) {
  EXPECT_EQ(train::PythonFloat(1), "1.0");
  EXPECT_EQ(train::PythonFloat(0.8741818070411682), "0.8741818070411682");
  EXPECT_EQ(train::PythonFloat(0.0001), "0.0001");
  EXPECT_EQ(train::PythonFloat(0.00001), "1e-05");
  EXPECT_EQ(train::PythonFloat(std::nan("")), "nan");

  Points points = MakePoints(30);
  std::string file = JoinPath(TestFolder("csv"), "log.csv");
  auto history = MakeModel().Fit(points.x, points.y, Quiet(2, {callbacks::CsvLogger(file)}));
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  auto line = [&](size_t epoch) {
    return StrCat(epoch, ",", train::PythonFloat((*history)["accuracy"][epoch]), ",",
                  train::PythonFloat((*history)["loss"][epoch]), "\r\n");
  };
  EXPECT_EQ(*ReadFile(Env::Default(), file), StrCat("epoch,accuracy,loss\r\n", line(0), line(1)));
}

TEST(CallbackTest, TensorBoardWritesWhatKerasWrites) {
  Points points = MakePoints(40);
  std::string folder = TestFolder("tensorboard");
  FitArraysOptions options = Quiet(2, {callbacks::TensorBoard(folder)});
  options.validation_split = 0.25;
  ASSERT_TRUE(MakeModel().Fit(points.x, points.y, options).ok());
  auto tags = [&](const char* part) {
    std::string in = JoinPath(folder, part);
    std::vector<std::string> out;
    auto files = Env::Default()->ListDirectory(in);
    EXPECT_TRUE(files.ok()) << files.status().ToString();
    for (const std::string& file : *files) {
      auto events = ReadScalarEvents(Env::Default(), JoinPath(in, file));
      EXPECT_TRUE(events.ok()) << events.status().ToString();
      for (const ScalarEvent& event : *events) out.push_back(StrCat(event.tag, "@", event.step));
    }
    return out;
  };
  EXPECT_THAT(tags("train"),
              testing::ElementsAre("epoch_accuracy@0", "epoch_learning_rate@0", "epoch_loss@0",
                                   "epoch_accuracy@1", "epoch_learning_rate@1", "epoch_loss@1"));
  EXPECT_THAT(tags("validation"),
              testing::ElementsAre(
                  "evaluation_accuracy_vs_iterations@3", "evaluation_loss_vs_iterations@3",
                  "epoch_accuracy@0", "epoch_loss@0", "evaluation_accuracy_vs_iterations@6",
                  "evaluation_loss_vs_iterations@6", "epoch_accuracy@1", "epoch_loss@1"));
}

}  // namespace
}  // namespace slipway
