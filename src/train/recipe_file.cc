// SPDX-License-Identifier: Apache-2.0
#include "train/recipe_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "base/strings.h"

namespace slipway::train {

struct RecipeNode::Yaml {
  YAML::Node node;
};

struct RecipeNode::Source {
  std::string file;
  struct Setting {
    std::string text;  // "fit.epochs=3"
    YAML::Node value;
  };
  std::vector<Setting> settings;  // later ones count
};

namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxRecipeBytes = 1 << 20;
constexpr int kMaxDepth = 64;
constexpr int kMaxValues = 100'000;

Json ScalarToJson(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // in quotes
  if (text == "null" || text == "~" || text.empty()) return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (auto integer = ParseInt64(text)) return *integer;
  // JSON has no infinity and no NaN: as texts they are shown in the error.
  if (auto number = ParseDouble(text); number && std::isfinite(*number)) return *number;
  return text;
}

Json NodeToJson(const YAML::Node& node, int depth) {
  if (depth > kMaxDepth || !node.IsDefined() || node.IsNull()) return nullptr;
  if (node.IsScalar()) return ScalarToJson(node);
  if (node.IsSequence()) {
    Json out = Json::array();
    for (const YAML::Node& item : node) out.push_back(NodeToJson(item, depth + 1));
    return out;
  }
  Json out = Json::object();
  for (const auto& entry : node) {
    out[entry.first.IsScalar() ? entry.first.Scalar() : "?"] = NodeToJson(entry.second, depth + 1);
  }
  return out;
}

// Aliases are followed by whoever reads the tree: a few lines of them can stand for more values
// than there is memory for, and an alias within its own anchor has no end. False if so.
bool IsSmall(const YAML::Node& node, int depth, int* left) {
  if (depth > kMaxDepth || --*left < 0) return false;
  for (const auto& entry : node) {
    if (node.IsMap()
            ? !IsSmall(entry.first, depth + 1, left) || !IsSmall(entry.second, depth + 1, left)
            : !IsSmall(entry, depth + 1, left)) {
      return false;
    }
  }
  return true;
}

Status CheckSize(const YAML::Node& root, const std::string& file) {
  int left = kMaxValues;
  if (IsSmall(root, 0, &left)) return OkStatus();
  return InvalidArgumentError(StrCat(file,
                                     ":1: with its aliases written out, the recipe has more "
                                     "than ",
                                     kMaxValues, " values or is nested deeper than ", kMaxDepth));
}

StatusOr<YAML::Node> ParseYaml(const std::string& text, const std::string& file) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return InvalidArgumentError(StrCat(file, ":", error.mark.line + 1, ": ", error.msg));
  }
}

constexpr size_t kMaxSettingShown = 200;
std::string SettingShown(std::string_view setting) {
  if (setting.size() <= kMaxSettingShown) return StrCat("--set ", setting);
  return StrCat("--set ", Quoted(setting, kMaxSettingShown));
}

// Of a value as it stands on the command line.
StatusOr<YAML::Node> ParseSetting(const std::string& setting, size_t equals) {
  try {
    YAML::Node value = YAML::Load(setting.substr(equals + 1));
    int left = kMaxValues;
    if (IsSmall(value, 0, &left)) return value;
    return InvalidArgumentError(StrCat(SettingShown(setting),
                                       ": with its aliases written out, more ", "than ", kMaxValues,
                                       " values, or deeper than ", kMaxDepth));
  } catch (const YAML::Exception& error) {
    return InvalidArgumentError(
        StrCat(SettingShown(setting), ": the value is no YAML: ", error.msg));
  }
}

// Whether `wanted` is `node` or below it.
bool Holds(const YAML::Node& node, const YAML::Node& wanted, int depth) {
  if (node.is(wanted)) return true;
  if (depth > kMaxDepth || (!node.IsMap() && !node.IsSequence())) return false;
  for (const auto& entry : node) {
    if (Holds(node.IsMap() ? YAML::Node(entry.second) : YAML::Node(entry), wanted, depth + 1)) {
      return true;
    }
  }
  return false;
}

// Walks along "a.b.0.c", making maps on the way, and puts the value there.
StatusOr<YAML::Node> Override(YAML::Node root, const std::string& setting) {
  size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgumentError(StrCat("--set needs key=value, got '", setting, "'"));
  }
  ASSIGN_OR_RETURN(YAML::Node value, ParseSetting(setting, equals));
  std::string path = setting.substr(0, equals);
  std::vector<std::string_view> keys = StrSplit(path, '.');
  YAML::Node at = root;
  for (size_t i = 0; i < keys.size(); ++i) {
    std::string key(keys[i]);
    bool last = i + 1 == keys.size();
    YAML::Node next;
    if (at.IsSequence()) {
      auto index = ParseInt64(key);
      if (!index || *index < 0 || *index >= static_cast<int64_t>(at.size())) {
        return InvalidArgumentError(StrCat("--set ", path, ": '", key,
                                           "' must be a number from 0 to ", at.size() - 1,
                                           ", it stands for an entry of a list"));
      }
      if (last) at[static_cast<size_t>(*index)] = value;
      next.reset(at[static_cast<size_t>(*index)]);
    } else if (at.IsScalar()) {
      return InvalidArgumentError(
          StrCat("--set ", path, ": there is no '", key, "' below a single value"));
    } else {
      if (last) at[key] = value;
      next.reset(at[key]);
    }
    at.reset(next);
  }
  return value;
}

}  // namespace

RecipeNode RecipeNode::Wrapped(const Yaml& node) const {
  return {source_, std::make_shared<const Yaml>(node)};
}

bool RecipeNode::defined() const { return node_->node.IsDefined() && !node_->node.IsNull(); }
bool RecipeNode::is_map() const { return node_->node.IsMap(); }
bool RecipeNode::is_list() const { return node_->node.IsSequence(); }

std::string RecipeNode::text() const { return node_->node.IsScalar() ? node_->node.Scalar() : ""; }

RecipeNode RecipeNode::operator[](const std::string& key) const {
  return Wrapped(Has(key) ? Yaml{node_->node[key]} : Yaml{});
}

bool RecipeNode::Has(const std::string& key) const {
  return is_map() && node_->node[key].IsDefined();
}

std::vector<RecipeNode> RecipeNode::items() const {
  std::vector<RecipeNode> out;
  for (const YAML::Node& item : node_->node) out.push_back(Wrapped({item}));
  return out;
}

std::vector<std::pair<std::string, RecipeNode>> RecipeNode::entries() const {
  std::vector<std::pair<std::string, RecipeNode>> out;
  if (!is_map()) return out;
  for (const auto& entry : node_->node) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    out.emplace_back(std::move(key), Wrapped({entry.second}));
  }
  return out;
}

std::string RecipeNode::ToJson() const {
  // YAML may hold bytes that are not UTF-8, which JSON cannot.
  return NodeToJson(node_->node, 0).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status RecipeNode::Error(std::string_view text) const {
  return Wrap(InvalidArgumentError(std::string(text)));
}

Status RecipeNode::Wrap(const Status& status, const std::string& key) const {
  const YAML::Node at = Has(key) ? YAML::Node(node_->node[key]) : node_->node;
  int line = node_->node.Mark().line;
  if (is_map()) {
    for (const auto& entry : node_->node) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) line = entry.first.Mark().line;
    }
  }
  std::string where = StrCat(source_->file, ":", line + 1);
  for (const Source::Setting& setting : source_->settings) {
    // A map without a line was made on the way to a value of --set.
    const bool from_here = Holds(setting.value, at, 0) || (line < 0 && Holds(at, setting.value, 0));
    if (from_here) where = SettingShown(setting.text);
  }
  return Status(status.code(), StrCat(where, ": ", status.message()));
}

Status RecipeNode::CheckKeys(const std::vector<std::string>& allowed, std::string_view what) const {
  std::string list = StrJoin(allowed, ", ");
  if (!is_map()) {
    return Error(StrCat(what, " must be a map with the keys ", list, ", got ", Quoted(ToJson())));
  }
  for (const auto& [key, value] : entries()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    const auto nearest = NearestWord(key, allowed);
    return Wrap(InvalidArgumentError(StrCat(
                    what, " has no key '", key, "'",
                    nearest ? StrCat("; did you mean '", *nearest, "'? ") : std::string(". "),
                    "It takes: ", list)),
                key);
  }
  return OkStatus();
}

StatusOr<RecipeNode::Named> RecipeNode::ToNamed(std::string_view kind) const {
  if (node_->node.IsScalar()) return Named{text(), Wrapped({})};
  if (Has("class_name")) {
    return Named{(*this)["class_name"].text(), (*this)["config"]};
  }
  auto all = entries();
  if (all.size() != 1) {
    return Error(
        StrCat("a ", kind, " must be a name or one {Name: settings}, got ", Quoted(ToJson())));
  }
  return Named{all[0].first, all[0].second};
}

Status RecipeNode::Fill(nn::Configurable* object, const char* main_key) const {
  std::string json = ToJson();
  if (!defined()) {
    json = "{}";
  } else if (!is_map() && main_key != nullptr) {
    json = StrCat("{\"", main_key, "\": ", json, "}");
  }
  nn::ConfigProblem problem;
  Status status = nn::ReadFields(json, object, &problem);
  return status.ok() ? status : Wrap(status, problem.key);
}

StatusOr<RecipeNode> ReadRecipe(const std::string& file, const std::vector<std::string>& set) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(Env::Default(), file, kMaxRecipeBytes));
  try {
    ASSIGN_OR_RETURN(YAML::Node root, ParseYaml(text, file));
    if (!root.IsMap()) {
      return InvalidArgumentError(StrCat(file,
                                         ":1: a recipe must be a map with the keys model, "
                                         "data, compile, fit, callbacks, save"));
    }
    auto source = std::make_shared<RecipeNode::Source>();
    source->file = file;
    for (const std::string& setting : set) {
      ASSIGN_OR_RETURN(YAML::Node value, Override(root, setting));
      source->settings.push_back({setting, value});
    }
    RETURN_IF_ERROR(CheckSize(root, file));
    return RecipeNode(std::move(source),
                      std::make_shared<const RecipeNode::Yaml>(RecipeNode::Yaml{root}));
  } catch (const YAML::Exception& error) {
    return InvalidArgumentError(StrCat(file, ":", error.mark.line + 1, ": ", error.msg));
  }
}

}  // namespace slipway::train
