// SPDX-License-Identifier: Apache-2.0
//
// Keras's configs as JSON text: {"class_name": "Dense", "config": {"units": 3, …}} (other keys of
// the envelope are passed over), or just a name ("sgd", "mse").
//
// Errors: INVALID_ARGUMENT for text that is no such config, an unknown class or key (the nearest is
// suggested, all are listed), a value of the wrong type; UNIMPLEMENTED for a setting of Keras's
// that we do not have.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nn/fields.h"
#include "slipway/status.h"

namespace slipway::nn {

// A kind of object by its names, and how to make one with default settings.
template <typename T>
struct ClassEntry {
  const char* class_name;            // "SparseCategoricalCrossentropy"
  std::vector<const char*> aliases;  // "sparse_categorical_crossentropy"
  const char* main_key;              // the key that a bare value stands for, or null
  std::function<std::shared_ptr<T>()> make;
};

// Where in a config an error lies: the key within the object's "config", or empty.
struct ConfigProblem {
  std::string key;
};

// Fills `object` from the text of its "config".
Status ReadFields(std::string_view config_json, Configurable* object, ConfigProblem* problem);
// The "config" as JSON text.
std::string WriteFields(Configurable* object);
// {"module": module, "class_name": …, "config": …, "registered_name": null}.
std::string WriteConfig(Configurable* object, std::string_view module);
// The keys that ReadFields takes.
std::vector<std::string> FieldKeys(Configurable* object);

// Class and "config" of an envelope, or of a bare name.
struct Envelope {
  std::string class_name;
  std::string config;  // JSON text, "{}" for a bare name
};
StatusOr<Envelope> ParseEnvelope(std::string_view json);
// The elements of a Sequential's "layers", as text each, and its name.
struct SequentialConfig {
  std::string name;
  std::vector<std::string> layers;
};
StatusOr<SequentialConfig> ParseSequential(std::string_view json);

// INVALID_ARGUMENT "Unknown layer 'Dens'; did you mean 'Dense'? There are: …".
Status UnknownClass(std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known);

template <typename T>
StatusOr<const ClassEntry<T>*> FindClass(const std::vector<ClassEntry<T>>& classes,
                                         std::string_view kind, std::string_view name) {
  std::vector<std::string> known;
  for (const ClassEntry<T>& entry : classes) {
    if (name == entry.class_name) return &entry;
    for (const char* alias : entry.aliases) {
      if (name == alias) return &entry;
    }
    known.push_back(entry.class_name);
  }
  return UnknownClass(kind, name, known);
}

// The object that the text describes.
template <typename T>
StatusOr<std::shared_ptr<T>> FromConfig(const std::vector<ClassEntry<T>>& classes,
                                        std::string_view kind, std::string_view json,
                                        ConfigProblem* problem = nullptr) {
  ASSIGN_OR_RETURN(Envelope envelope, ParseEnvelope(json));
  ASSIGN_OR_RETURN(const ClassEntry<T>* entry, FindClass(classes, kind, envelope.class_name));
  std::shared_ptr<T> object = entry->make();
  RETURN_IF_ERROR(ReadFields(envelope.config, object.get(), problem));
  return object;
}

// Names of activations and reductions as configs spell them.
std::string_view ActivationName(Activation activation);

}  // namespace slipway::nn
