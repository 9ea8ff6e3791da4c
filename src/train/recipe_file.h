// SPDX-License-Identifier: Apache-2.0
//
// The text of a recipe: YAML with overrides, and errors that point into it. Included by the
// recipe's own sources only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/config.h"
#include "slipway/status.h"

namespace slipway::train {

// A place in a recipe. Never throws: what yaml-cpp throws becomes a Status.
class RecipeNode {
 public:
  // The parser's node; defined in recipe_file.cc.
  struct Yaml;
  // Where text comes from: the file, and the values of --set in it.
  struct Source;
  RecipeNode(std::shared_ptr<const Source> source, std::shared_ptr<const Yaml> node)
      : source_(std::move(source)), node_(std::move(node)) {}

  bool defined() const;
  bool is_map() const;
  bool is_list() const;
  // The entry of a map; not defined() if there is none.
  RecipeNode operator[](const std::string& key) const;
  bool Has(const std::string& key) const;
  std::vector<RecipeNode> items() const;                            // of a list
  std::vector<std::pair<std::string, RecipeNode>> entries() const;  // of a map

  // Of a single value, as written.
  std::string text() const;
  // The value as JSON text: numbers, true and false, null as YAML's core schema reads them.
  std::string ToJson() const;
  // INVALID_ARGUMENT "FILE:LINE: text", or "--set KEY=VALUE: text" for what came from there.
  Status Error(std::string_view text) const;
  // The same, with the code and message of `status`; at the entry `key` if there is one.
  Status Wrap(const Status& status, const std::string& key = "") const;
  // Every key is one of `allowed`; else the nearest is suggested.
  Status CheckKeys(const std::vector<std::string>& allowed, std::string_view what) const;

  // The object that is described here as "Name", {Name: {…}}, {Name: value of its main key} or in
  // Keras's form {class_name: …, config: {…}}.
  template <typename T>
  StatusOr<std::shared_ptr<T>> ToObject(const std::vector<nn::ClassEntry<T>>& classes,
                                        std::string_view kind) const;
  // Sets the fields of `object` from this map (or from a bare value for `main_key`).
  Status Fill(nn::Configurable* object, const char* main_key = nullptr) const;

 private:
  struct Named;
  StatusOr<Named> ToNamed(std::string_view kind) const;

  RecipeNode Wrapped(const Yaml& node) const;

  std::shared_ptr<const Source> source_;
  std::shared_ptr<const Yaml> node_;
};

struct RecipeNode::Named {
  std::string class_name;
  RecipeNode settings;
};

template <typename T>
StatusOr<std::shared_ptr<T>> RecipeNode::ToObject(const std::vector<nn::ClassEntry<T>>& classes,
                                                  std::string_view kind) const {
  ASSIGN_OR_RETURN(Named named, ToNamed(kind));
  auto entry = nn::FindClass(classes, kind, named.class_name);
  if (!entry.ok()) return Wrap(entry.status());
  std::shared_ptr<T> object = (*entry)->make();
  RETURN_IF_ERROR(named.settings.Fill(object.get(), (*entry)->main_key));
  return object;
}

// Reads the file and applies "key.key=value" overrides. NOT_FOUND, or INVALID_ARGUMENT with the
// line for what is not YAML.
StatusOr<RecipeNode> ReadRecipe(const std::string& file, const std::vector<std::string>& set);

}  // namespace slipway::train
