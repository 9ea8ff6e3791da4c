// SPDX-License-Identifier: Apache-2.0
#include "nn/config.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/strings.h"
#include "nn/names.h"

namespace slipway::nn {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A config in an error: its beginning. UTF-8 may be broken (a name read from a file).
constexpr size_t kMaxQuoted = 80;
std::string Shown(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kMaxQuoted) return text;
  size_t end = kMaxQuoted;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}
// A name in quotes, not longer either.
std::string ShownName(std::string_view name) {
  return name.size() <= kMaxQuoted ? StrCat("'", name, "'") : Quoted(name, kMaxQuoted);
}

// How the sentence about an unknown word goes on, to its end: "; did you mean 'relu'? There are:
// …".
std::string Instead(std::string_view word, const std::vector<std::string>& known,
                    std::string_view lead) {
  const auto nearest = NearestWord(word, known);
  return StrCat(nearest ? StrCat("; did you mean '", *nearest, "'? ") : std::string(". "), lead,
                ": ", StrJoin(known, ", "));
}

struct InitializerEntry {
  std::vector<const char*> names;
  Initializer (*make)();
};
const std::vector<InitializerEntry>& InitializerClasses() {
  namespace I = initializers;
  static const std::vector<InitializerEntry> classes = {
      {{"Zeros", "zeros", "zero"}, [] { return I::Zeros(); }},
      {{"Ones", "ones", "one"}, [] { return I::Ones(); }},
      {{"Constant", "constant"}, [] { return I::Constant(0); }},
      {{"RandomUniform", "random_uniform", "uniform"}, [] { return I::RandomUniform(); }},
      {{"RandomNormal", "random_normal", "normal"}, [] { return I::RandomNormal(); }},
      {{"TruncatedNormal", "truncated_normal"}, [] { return I::TruncatedNormal(); }},
      {{"VarianceScaling", "variance_scaling"}, [] { return I::VarianceScaling(); }},
      {{"GlorotUniform", "glorot_uniform"}, [] { return I::GlorotUniform(); }},
      {{"GlorotNormal", "glorot_normal"}, [] { return I::GlorotNormal(); }},
      {{"HeUniform", "he_uniform"}, [] { return I::HeUniform(); }},
      {{"HeNormal", "he_normal"}, [] { return I::HeNormal(); }},
      {{"LecunUniform", "lecun_uniform"}, [] { return I::LecunUniform(); }},
      {{"LecunNormal", "lecun_normal"}, [] { return I::LecunNormal(); }},
  };
  return classes;
}

// The numbers of an initialiser under the keys of its class.
struct NumberKey {
  const char* key;
  double Initializer::*member;
};
std::vector<NumberKey> NumberKeys(const Initializer& init) {
  using K = Initializer::Kind;
  if (init.class_name == "Constant") return {{"value", &Initializer::a}};
  if (init.class_name == "VarianceScaling") return {{"scale", &Initializer::a}};
  if (init.kind == K::kUniform) return {{"minval", &Initializer::a}, {"maxval", &Initializer::b}};
  if (init.kind == K::kNormal || init.kind == K::kTruncatedNormal) {
    return {{"mean", &Initializer::a}, {"stddev", &Initializer::b}};
  }
  return {};
}

OrderedJson WriteInitializer(const Initializer& init) {
  OrderedJson config = OrderedJson::object();
  for (const NumberKey& number : NumberKeys(init)) config[number.key] = init.*number.member;
  if (init.class_name == "VarianceScaling") {
    config["mode"] = NameOf(ModeNames(), init.mode);
    config["distribution"] = NameOf(DistributionNames(), init.distribution);
  }
  if (init.kind != Initializer::Kind::kConstant) {
    config["seed"] = init.seed ? OrderedJson(*init.seed) : OrderedJson(nullptr);
  }
  return {{"module", "keras.initializers"},
          {"class_name", init.class_name},
          {"config", config},
          {"registered_name", nullptr}};
}

class FieldWriter final : public FieldVisitor {
 public:
  OrderedJson out = OrderedJson::object();
  void operator()(const char* key, bool* v) override { out[key] = *v; }
  void operator()(const char* key, int* v) override { out[key] = *v; }
  void operator()(const char* key, int64_t* v) override { out[key] = *v; }
  void operator()(const char* key, double* v) override { out[key] = *v; }
  void operator()(const char* key, std::string* v) override { out[key] = *v; }
  void operator()(const char* key, std::optional<int64_t>* v) override {
    out[key] = *v ? OrderedJson(**v) : OrderedJson(nullptr);
  }
  void operator()(const char* key, std::optional<double>* v) override {
    out[key] = *v ? OrderedJson(**v) : OrderedJson(nullptr);
  }
  void operator()(const char* key, Activation* v) override { out[key] = ActivationName(*v); }
  void operator()(const char* key, Initializer* v) override { out[key] = WriteInitializer(*v); }
  void operator()(const char* key, Reduction* v) override {
    out[key] = NameOf(ReductionNames(), *v);
  }
  void operator()(const char* key, DType* v) override { out[key] = DTypeName(*v); }
  void operator()(const char* key, PartialShape* v) override {
    if (!v->has_rank()) return;
    OrderedJson dims = OrderedJson::array();
    for (int i = 0; i < v->rank(); ++i) {
      dims.push_back(v->dim(i) < 0 ? OrderedJson(nullptr) : OrderedJson(v->dim(i)));
    }
    out[key] = dims;
  }
  void Fixed(const char* key, const char* json) override { out[key] = OrderedJson::parse(json); }
};

class KeyLister final : public FieldVisitor {
 public:
  std::vector<std::string> keys;
  void operator()(const char* key, bool*) override { keys.push_back(key); }
  void operator()(const char* key, int*) override { keys.push_back(key); }
  void operator()(const char* key, int64_t*) override { keys.push_back(key); }
  void operator()(const char* key, double*) override { keys.push_back(key); }
  void operator()(const char* key, std::string*) override { keys.push_back(key); }
  void operator()(const char* key, std::optional<int64_t>*) override { keys.push_back(key); }
  void operator()(const char* key, std::optional<double>*) override { keys.push_back(key); }
  void operator()(const char* key, Activation*) override { keys.push_back(key); }
  void operator()(const char* key, Initializer*) override { keys.push_back(key); }
  void operator()(const char* key, Reduction*) override { keys.push_back(key); }
  void operator()(const char* key, DType*) override { keys.push_back(key); }
  void operator()(const char* key, PartialShape*) override { keys.push_back(key); }
  void Fixed(const char*, const char*) override {}
};

class FieldReader final : public FieldVisitor {
 public:
  FieldReader(const Json& in, const char* class_name, ConfigProblem* problem)
      : in_(in), class_name_(class_name), problem_(problem) {}

  Status status;

  void operator()(const char* key, bool* v) override {
    if (const Json* j = Find(key)) {
      j->is_boolean() ? void(*v = j->get<bool>()) : Wrong(key, *j, "true or false");
    }
  }
  void operator()(const char* key, int* v) override {
    const Json* j = Find(key);
    if (j == nullptr) return;
    int64_t wide = *v;
    ReadInt(key, *j, &wide);
    if (!std::in_range<int>(wide)) return Wrong(key, *j, "an integer of 32 bits");
    *v = static_cast<int>(wide);
  }
  void operator()(const char* key, int64_t* v) override {
    if (const Json* j = Find(key)) ReadInt(key, *j, v);
  }
  void operator()(const char* key, double* v) override {
    if (const Json* j = Find(key)) {
      j->is_number() ? void(*v = j->get<double>()) : Wrong(key, *j, "a number");
    }
  }
  void operator()(const char* key, std::string* v) override {
    if (const Json* j = Find(key)) {
      j->is_string() ? void(*v = j->get<std::string>()) : Wrong(key, *j, "a text");
    }
  }
  void operator()(const char* key, std::optional<int64_t>* v) override {
    const Json* j = Find(key);
    if (j == nullptr) return;
    v->reset();
    if (j->is_null()) return;
    int64_t value = 0;
    if (ReadInt(key, *j, &value)) *v = value;
  }
  void operator()(const char* key, std::optional<double>* v) override {
    const Json* j = Find(key);
    if (j == nullptr) return;
    v->reset();
    if (j->is_null()) return;
    j->is_number() ? void(*v = j->get<double>()) : Wrong(key, *j, "a number or null");
  }
  void operator()(const char* key, Activation* v) override {
    if (const Json* j = Find(key)) {
      if (j->is_null()) {
        *v = Activation::kLinear;
      } else {
        ReadName(key, *j, ActivationNames(), "activation", v);
      }
    }
  }
  void operator()(const char* key, Reduction* v) override {
    if (const Json* j = Find(key)) {
      if (j->is_null()) {
        *v = Reduction::kNone;
      } else {
        ReadName(key, *j, ReductionNames(), "reduction", v);
      }
    }
  }
  void operator()(const char* key, DType* v) override {
    const Json* j = Find(key);
    if (j == nullptr) return;
    std::optional<DType> dtype;
    if (j->is_string()) dtype = ParseDType(j->get<std::string>());
    dtype ? void(*v = *dtype) : Wrong(key, *j, "a dtype such as \"float32\"");
  }
  void operator()(const char* key, PartialShape* v) override {
    const Json* j = Find(key);
    if (j == nullptr || j->is_null()) return;
    std::vector<int64_t> dims;
    bool fits = j->is_array();
    for (size_t i = 0; fits && i < j->size(); ++i) {
      const Json& dim = (*j)[i];
      fits = dim.is_null() || (FitsInt64(dim) && dim.get<int64_t>() >= 0);
      if (fits) dims.push_back(dim.is_null() ? -1 : dim.get<int64_t>());
    }
    fits ? void(*v = PartialShape(dims)) : Wrong(key, *j, "a list of sizes such as [null, 28, 28]");
  }
  void operator()(const char* key, Initializer* v) override {
    if (const Json* j = Find(key)) ReadInitializer(key, *j, v);
  }
  void Fixed(const char* key, const char* json) override {
    fixed_.push_back(key);
    auto it = in_.find(key);
    if (it == in_.end() || *it == Json::parse(json)) return;
    Fail(key, Code::kUnimplemented,
         StrCat(class_name_, ": '", key, "' is ", Shown(*it), "; only ", json, " is supported"));
  }

  void CheckUnknown() {
    for (const auto& [key, value] : in_.items()) {
      if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) continue;
      if (std::find(fixed_.begin(), fixed_.end(), key) != fixed_.end()) continue;
      Fail(key, Code::kInvalidArgument,
           StrCat(class_name_, " has no key ", ShownName(key), Instead(key, keys_, "It takes")));
    }
  }
  void Fail(std::string key, Code code, std::string message) {
    if (!status.ok()) return;
    status = Status(code, std::move(message));
    if (problem_ != nullptr) problem_->key = std::move(key);
  }

 private:
  const Json* Find(const char* key) {
    keys_.push_back(key);
    auto it = in_.find(key);
    return it == in_.end() ? nullptr : &*it;
  }
  void Wrong(const char* key, const Json& seen, std::string_view wanted) {
    Fail(key, Code::kInvalidArgument,
         StrCat(class_name_, ": '", key, "' must be ", wanted, ", got ", Shown(seen)));
  }
  // Unsigned ones may be larger than any int64.
  static bool FitsInt64(const Json& j) {
    return j.is_number_integer() &&
           (!j.is_number_unsigned() ||
            j.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  }
  bool ReadInt(const char* key, const Json& j, int64_t* v) {
    if (FitsInt64(j)) return *v = j.get<int64_t>(), true;
    Wrong(key, j, j.is_number_integer() ? "an integer of 64 bits" : "an integer");
    return false;
  }
  template <typename E>
  void ReadName(const char* key, const Json& j, const NameTable<E>& names, const char* what, E* v) {
    if (!j.is_string()) return Wrong(key, j, StrCat("the name of a ", what));
    std::string name = j.get<std::string>();
    for (const auto& [candidate, value] : names) {
      if (name == candidate) return void(*v = value);
    }
    std::vector<std::string> known = NamesIn(names);
    Fail(key, Code::kInvalidArgument,
         StrCat(class_name_, ": unknown ", what, " ", ShownName(name),
                Instead(name, known, "There are")));
  }
  void ReadInitializer(const char* key, const Json& j, Initializer* v) {
    const Json* named = &j;
    if (j.is_object() && j.contains("class_name")) named = &j["class_name"];
    if (!named->is_string()) {
      return Wrong(key, j, "an initializer: a name, or {\"class_name\": NAME, \"config\": {...}}");
    }
    std::string name = named->get<std::string>();
    std::vector<std::string> known;
    for (const InitializerEntry& entry : InitializerClasses()) {
      known.push_back(entry.names[0]);
      for (const char* candidate : entry.names) {
        if (name != candidate) continue;
        *v = entry.make();
        if (j.is_object() && j.contains("config")) ReadInitializerConfig(key, j["config"], v);
        return;
      }
    }
    Fail(key, Code::kInvalidArgument,
         StrCat(class_name_, ": unknown initializer ", ShownName(name), " for '", key, "'",
                Instead(name, known, "There are")));
  }
  void ReadInitializerConfig(const char* key, const Json& config, Initializer* v) {
    if (!config.is_object()) return Wrong(key, config, "an initializer's config");
    for (const NumberKey& number : NumberKeys(*v)) {
      if (!config.contains(number.key)) continue;
      if (!config[number.key].is_number()) return Wrong(number.key, config[number.key], "a number");
      v->*number.member = config[number.key].get<double>();
    }
    if (v->class_name == "VarianceScaling") {
      if (config.contains("mode")) ReadName(key, config["mode"], ModeNames(), "mode", &v->mode);
      if (config.contains("distribution")) {
        ReadName(key, config["distribution"], DistributionNames(), "distribution",
                 &v->distribution);
      }
    }
    if (!config.contains("seed") || config["seed"].is_null()) return;
    int64_t seed = 0;
    if (ReadInt("seed", config["seed"], &seed)) v->seed = seed;
  }

  const Json& in_;
  const char* class_name_;
  ConfigProblem* problem_;
  std::vector<std::string> keys_;
  std::vector<std::string> fixed_;
};

// Reading, writing and comparing JSON recurse with its depth.
constexpr int kMaxDepth = 100;
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Names from C++ need not be UTF-8.
std::string Written(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

StatusOr<Json> Parse(std::string_view text) {
  if (IsTooDeep(text)) {
    return InvalidArgumentError(StrCat("A config must not be nested deeper than ", kMaxDepth,
                                       ", got ", Quoted(text, kMaxQuoted)));
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return InvalidArgumentError(StrCat("A config must be JSON, got ", Quoted(text, kMaxQuoted)));
  }
  return json;
}

}  // namespace

std::string_view ActivationName(Activation activation) {
  for (const auto& [name, candidate] : ActivationNames()) {
    if (candidate == activation) return name;
  }
  return "linear";
}

Status ReadFields(std::string_view config_json, Configurable* object, ConfigProblem* problem) {
  ASSIGN_OR_RETURN(Json json, Parse(config_json));
  if (!json.is_object()) {
    return InvalidArgumentError(StrCat(
        object->class_name(), ": the settings must be a map of keys to values, got ", Shown(json)));
  }
  FieldReader reader(json, object->class_name(), problem);
  object->Fields(reader);
  reader.CheckUnknown();
  if (reader.status.ok()) {
    if (auto wrong = object->Check()) {
      reader.Fail(wrong->key, Code::kInvalidArgument,
                  StrCat(object->class_name(), ": ", wrong->what));
    }
  }
  return reader.status;
}

std::string WriteFields(Configurable* object) {
  FieldWriter writer;
  object->Fields(writer);
  return Written(writer.out);
}

std::string WriteConfig(Configurable* object, std::string_view module) {
  FieldWriter writer;
  object->Fields(writer);
  OrderedJson out = {{"module", module},
                     {"class_name", object->class_name()},
                     {"config", writer.out},
                     {"registered_name", nullptr}};
  return Written(out);
}

std::vector<std::string> FieldKeys(Configurable* object) {
  KeyLister lister;
  object->Fields(lister);
  return lister.keys;
}

StatusOr<Envelope> ParseEnvelope(std::string_view text) {
  ASSIGN_OR_RETURN(Json json, Parse(text));
  if (json.is_string()) return Envelope{json.get<std::string>(), "{}"};
  if (!json.is_object() || !json.contains("class_name") || !json["class_name"].is_string()) {
    return InvalidArgumentError(
        StrCat("A config must be a name or have \"class_name\" and \"config\", got ", Shown(json)));
  }
  std::string config = json.contains("config") ? json["config"].dump() : "{}";
  return Envelope{json["class_name"].get<std::string>(), std::move(config)};
}

StatusOr<SequentialConfig> ParseSequential(std::string_view text) {
  ASSIGN_OR_RETURN(Json json, Parse(text));
  if (json.is_object() && json.contains("class_name")) {
    if (json["class_name"] != "Sequential") {
      return UnimplementedError(StrCat("The config describes a ", Shown(json["class_name"]),
                                       "; only Sequential models are supported"));
    }
    Json inner = json.contains("config") ? json["config"] : Json();
    json = std::move(inner);
  }
  if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array()) {
    return InvalidArgumentError("A Sequential model's config needs a list \"layers\"");
  }
  SequentialConfig out;
  if (json.contains("name") && json["name"].is_string()) out.name = json["name"];
  for (const Json& layer : json["layers"]) out.layers.push_back(layer.dump());
  return out;
}

Status UnknownClass(std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known) {
  return InvalidArgumentError(
      StrCat("Unknown ", kind, " ", ShownName(name), Instead(name, known, "There are")));
}

}  // namespace slipway::nn
