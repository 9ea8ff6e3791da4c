// SPDX-License-Identifier: Apache-2.0
//
// The settings of a configurable object (a layer, a loss, an optimizer, a callback), named once:
// one visitor reads them from Keras's JSON config, one writes it, one lists the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slipway/initializers.h"
#include "slipway/layers.h"
#include "slipway/losses.h"

namespace slipway::nn {

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  // A key and where its value is kept; the value that is there is the default.
  virtual void operator()(const char* key, bool* value) = 0;
  virtual void operator()(const char* key, int* value) = 0;
  virtual void operator()(const char* key, int64_t* value) = 0;
  virtual void operator()(const char* key, double* value) = 0;
  virtual void operator()(const char* key, std::string* value) = 0;
  virtual void operator()(const char* key, std::optional<int64_t>* value) = 0;
  virtual void operator()(const char* key, std::optional<double>* value) = 0;
  virtual void operator()(const char* key, Activation* value) = 0;
  virtual void operator()(const char* key, Initializer* value) = 0;
  virtual void operator()(const char* key, Reduction* value) = 0;
  virtual void operator()(const char* key, DType* value) = 0;
  // A list of sizes, null for an unknown one. Not written if the rank is unknown.
  virtual void operator()(const char* key, PartialShape* value) = 0;
  // A setting of Keras's that we have only with this value (JSON text): another one is
  // UNIMPLEMENTED.
  virtual void Fixed(const char* key, const char* json) = 0;
};

// What has settings.
class Configurable {
 public:
  virtual ~Configurable() = default;
  virtual const char* class_name() const = 0;  // Keras's: "Dense"
  virtual void Fields(FieldVisitor& visit) = 0;
  // After reading: whether the values make sense together, and which key does not.
  struct Problem {
    std::string key;
    std::string what;
  };
  virtual std::optional<Problem> Check() const { return std::nullopt; }
};

}  // namespace slipway::nn
