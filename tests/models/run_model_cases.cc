// SPDX-License-Identifier: Apache-2.0
//
// run_model_cases [--source=DIR] NAME...: loads reference models, with passes on and off, and
// compares what their cases give with what TensorFlow gave.
//
// A case is typed tensor JSON (docs/formats/tensor-json.md) with, beside "signature" and "inputs":
// "outputs", "rtol", "atol" and "int_atol"; or "error": {"code", "contains"}; or "steps": such
// calls in order on one freshly loaded model; and "tags" of the MetaGraph. In the folder "bad" are
// models that must give an error where TensorFlow does (tensorflow.json). "others" stands for all
// models of $SLIPWAY_MODEL_CASES that models.txt does not name. Exit: 0 all passed, 1 some failed,
// 77 (skipped) where the models are not there.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/strings.h"
#include "model/saved_model.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"

namespace slipway {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr int kSkipped = 77;

struct Tolerance {
  double rtol = 0, atol = 0, int_atol = 0;
};

bool Near(double got, double want, const Tolerance& t) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || got == want) return got == want;
  return std::abs(got - want) <= t.atol + t.rtol * std::abs(want);
}

template <typename T>
bool Same(const T& got, const T& want, const Tolerance& t) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return Near(static_cast<float>(got), static_cast<float>(want), t);
  } else if constexpr (std::is_floating_point_v<T>) {
    return Near(static_cast<double>(got), static_cast<double>(want), t);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    if (got == want || (std::isnan(std::abs(want)) && std::isnan(std::abs(got)))) return true;
    return std::abs(std::complex<double>(got) - std::complex<double>(want)) <=
           t.atol + t.rtol * std::abs(std::complex<double>(want));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return got == want ||
           std::abs(static_cast<double>(got) - static_cast<double>(want)) <= t.int_atol;
  } else {
    return got == want;
  }
}

template <typename T>
std::string Differences(const Tensor& got, const Tensor& want, const Tolerance& t) {
  size_t count = 0, first = 0;
  const auto* g = static_cast<const T*>(got.raw_data());
  const auto* w = static_cast<const T*>(want.raw_data());
  for (size_t i = 0; i < static_cast<size_t>(want.num_elements()); ++i) {
    if (Same<T>(g[i], w[i], t)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  return StrCat(count, " of ", want.num_elements(), " values differ, from ", first, " on: got ",
                got.ToString(20), ", wanted ", want.ToString(20));
}

template <typename... Ts>
std::string CompareAs(const Tensor& got, const Tensor& want, const Tolerance& t) {
  std::string text = StrCat("values of ", DTypeName(want.dtype()), " cannot be compared");
  ((NpyStorage(want.dtype()) == DTypeOf<Ts>() ? (text = Differences<Ts>(got, want, t), 0) : 0),
   ...);
  return text;
}

std::string Compare(const Tensor& got, const Tensor& want, const Tolerance& t) {
  if (NpyStorage(got.dtype()) != NpyStorage(want.dtype()) || !(got.shape() == want.shape())) {
    return StrCat("got ", DTypeName(got.dtype()), got.shape().ToString(), ", wanted ",
                  DTypeName(want.dtype()), want.shape().ToString());
  }
  return CompareAs<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                   uint16_t, uint32_t, uint64_t, bool, std::complex<float>, std::complex<double>,
                   std::string>(got, want, t);
}

// {NAME: TENSOR} read by the parser of requests.
StatusOr<TensorMap> ReadTensors(const Json& tensors, const std::string& folder) {
  ASSIGN_OR_RETURN(
      const TensorJsonRequest request,
      ParseTensorJsonRequest(Json{{"inputs", tensors}}.dump(), Env::Default(), folder));
  return request.calls[0].inputs;
}

bool Contains(std::string text, std::string part) {
  for (std::string* s : {&text, &part}) {
    std::transform(s->begin(), s->end(), s->begin(),
                   [](unsigned char c) { return std::tolower(c); });
  }
  return text.find(part) != std::string::npos;
}

std::string CheckError(const Json& wanted, const Status& status) {
  if (status.ok()) return "succeeded, an error was expected";
  const std::string contains = wanted.value("contains", "");
  if (CodeName(status.code()) == wanted["code"].get<std::string>() &&
      Contains(std::string(status.message()), contains)) {
    return "";
  }
  return StrCat("error ", status.ToString(), ", wanted ", wanted.dump());
}

StatusOr<model::TensorMap> Call(const model::SavedModel& model, const Json& call,
                                const std::string& folder) {
  ASSIGN_OR_RETURN(const model::Signature* signature,
                   model.FindSignature(call.value("signature", "serving_default")));
  ASSIGN_OR_RETURN(const TensorMap given,
                   ReadTensors(call.value("inputs", Json::object()), folder));
  model::TensorMap inputs;
  for (const auto& [name, tensor] : given) inputs.insert_or_assign(name, tensor);
  return signature->Run(inputs);
}

// What is wrong with one call; nothing if it is right.
std::string CheckCall(const model::SavedModel& model, const Json& call, const Tolerance& t,
                      const std::string& folder) {
  const auto outputs = Call(model, call, folder);
  if (call.contains("error")) return CheckError(call["error"], outputs.status());
  if (!outputs.ok()) return outputs.status().ToString();
  const auto wanted = ReadTensors(call["outputs"], folder);
  if (!wanted.ok()) return wanted.status().ToString();
  if (wanted->size() != outputs->size()) {
    return StrCat(outputs->size(), " outputs, wanted ", wanted->size());
  }
  for (const auto& [name, want] : *wanted) {
    const auto got = outputs->find(name);
    if (got == outputs->end()) return StrCat("output ", name, " is missing");
    const std::string problem = Compare(got->second, want, t);
    if (!problem.empty()) return StrCat(name, ": ", problem);
  }
  return "";
}

// The cases of one model under one set of options.
class ModelRun {
 public:
  ModelRun(std::string folder, bool passes) : folder_(std::move(folder)), passes_(passes) {}

  std::string Check(const Json& c) {
    const Tolerance t = {c.value("rtol", 0.0), c.value("atol", 0.0), c.value("int_atol", 0.0)};
    const auto tags = c.value("tags", std::vector<std::string>{"serve"});
    const std::string cases = folder_ + "/cases";
    if (!c.contains("steps")) {
      auto& model = shared_[tags];
      if (model == nullptr) {
        auto loaded = Load(tags);
        if (!loaded.ok()) return loaded.status().ToString();
        model = *std::move(loaded);
      }
      return CheckCall(*model, c, t, cases);
    }
    const auto fresh = Load(tags);
    if (!fresh.ok()) return fresh.status().ToString();
    for (size_t i = 0; i < c["steps"].size(); ++i) {
      const std::string problem = CheckCall(**fresh, c["steps"][i], t, cases);
      if (!problem.empty()) return StrCat("step ", i, ": ", problem);
    }
    return "";
  }

  StatusOr<std::unique_ptr<model::SavedModel>> Load(const std::vector<std::string>& tags) const {
    model::LoadOptions options;
    options.tags = tags;
    options.run_passes = passes_;
    return model::SavedModel::Load(Env::Default(), folder_ + "/saved_model", options);
  }

 private:
  std::string folder_;
  bool passes_;
  std::map<std::vector<std::string>, std::unique_ptr<model::SavedModel>> shared_;
};

StatusOr<Json> ReadJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(Env::Default(), path));
  Json json = Json::parse(QuoteBareWords(text), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgumentError(path + " is no JSON");
  return json;
}

std::vector<std::string> Sorted(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Count {
  int passed = 0, failed = 0;
  void Add(const std::string& what, const std::string& problem) {
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) std::printf("FAILED %s: %s\n", what.c_str(), problem.c_str());
  }
};

void CheckModel(const std::string& folder, const std::string& name, Count* count) {
  for (const bool passes : {true, false}) {
    ModelRun run(folder, passes);
    const std::vector<std::string> cases = Sorted(folder + "/cases");
    const std::string how = passes ? "" : " (passes off)";
    if (cases.empty()) {  // it need only load
      count->Add(name + how,
                 run.Load({"serve"}).ok() ? "" : run.Load({"serve"}).status().ToString());
    }
    for (const std::string& file : cases) {
      if (!file.ends_with(".json")) continue;
      const auto c = ReadJson(folder + "/cases/" + file);
      count->Add(StrCat(name, "/", file.substr(0, file.size() - 5), how),
                 c.ok() ? run.Check(*c) : c.status().ToString());
    }
  }
}

void CheckBad(const std::string& folder, const std::string& name, Count* count) {
  const auto notes = ReadJson(folder + "/tensorflow.json");
  const std::string stage = notes.ok() ? notes->value("stage", "none") : "none";
  const ModelRun run(folder, true);
  const auto loaded = run.Load({"serve"});
  Status status = loaded.status();
  if (loaded.ok() && notes.ok() && notes->contains("call")) {
    status = Call(**loaded, (*notes)["call"], folder).status();
  }
  // TensorFlow takes files outside of the model's folder for its assets.
  const bool must_fail = stage != "none" || name == "bad/asset_path_escape";
  count->Add(name, must_fail && status.ok() ? StrCat("accepted; TensorFlow fails at ", stage) : "");
}

// Where the models are; empty if nowhere.
std::string ModelsFolder(const std::string& source) {
  std::vector<std::string> places;
  if (const char* cases = std::getenv("SLIPWAY_MODEL_CASES")) {
    places.emplace_back(cases);
  }
  if (const char* shared = std::getenv("SLIPWAY_SHARED")) {
    places.push_back(std::string(shared) + "/models");
  }
  places.push_back(source + "/../shared/models");
  for (const std::string& place : places) {
    if (fs::is_directory(place)) return place;
  }
  return "";
}

std::set<std::string> Listed(const std::string& source) {
  std::set<std::string> names;
  const auto text = ReadFile(Env::Default(), source + "/tests/models/models.txt");
  if (!text.ok()) return names;
  for (std::string_view line : StrSplit(*text, '\n')) names.emplace(line);
  return names;
}

int Run(const std::string& source, const std::vector<std::string>& wanted) {
  const std::string models = ModelsFolder(source);
  std::vector<std::string> names;
  for (const std::string& name : wanted) {
    if (name != "others") {
      names.push_back(name);
      continue;
    }
    const std::set<std::string> listed = Listed(source);
    if (std::getenv("SLIPWAY_MODEL_CASES") == nullptr) continue;
    for (std::string& other : Sorted(models)) {
      if (!listed.contains(other)) names.push_back(std::move(other));
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    return models.empty() || !fs::is_directory(models + "/" + name);
  });
  Count count;
  for (const std::string& name : names) {
    const std::string folder = models + "/" + name;
    if (name != "bad") {
      CheckModel(folder, name, &count);
      continue;
    }
    for (const std::string& bad : Sorted(folder)) {
      if (fs::is_directory(folder + "/" + bad)) CheckBad(folder + "/" + bad, "bad/" + bad, &count);
    }
  }
  if (count.passed + count.failed == 0) {
    std::printf("skipped: the models are not at $SLIPWAY_MODEL_CASES or $SLIPWAY_SHARED/models\n");
    return kSkipped;
  }
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  std::string source = ".";
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.starts_with("--source=")) {
      source = arg.substr(9);
    } else {
      names.push_back(arg);
    }
  }
  return slipway::Run(source, names);
}
