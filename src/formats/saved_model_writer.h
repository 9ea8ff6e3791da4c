// SPDX-License-Identifier: Apache-2.0
//
// Writes a SavedModel that TensorFlow loads: tf.saved_model.load(dir) gives an object that can be
// called, loaded(x), loaded(x, training=True), with .variables, .trainable_variables and
// .signatures; Keras's TFSMLayer, saved_model_cli, TensorFlow Serving and our own reader take it
// too.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "ir/function.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::formats {

struct ExportVariable {
  // Keras's path, such as "dense/kernel": the variable's .name in Python. Unique.
  std::string name;
  Tensor value;
  bool trainable = true;
  // Attribute names from the model to the variable, such as {"dense", "kernel"} or
  // {"layers", "0", "kernel"}; they become nested objects in Python, and joined by "/" and followed
  // by "/.ATTRIBUTES/VARIABLE_VALUE" the key in the checkpoint. An object all of whose attributes
  // are "0", "1"… is a list. Empty: `name` split at "/".
  std::vector<std::string> object_path;
};

// A function whose arguments are the user's inputs, then one DT_RESOURCE handle per captured
// variable.
struct ExportFunction {
  ir::Function body;
  // Indices into ModelExport::variables, in the order of the handle arguments.
  std::vector<int> captures;
};

// A named entry point: `inputs` and `outputs` give the names that clients use for the arguments
// and results of ModelExport::call_inference, in their order.
struct ExportSignature {
  std::string name = "serving_default";
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

struct ModelExport {
  std::vector<ExportVariable> variables;
  // What loaded(x) computes. The names of its user arguments are the names of the Python arguments
  // (Keras says "inputs"); a single result is returned as a tensor, several as a tuple.
  ExportFunction call_inference;
  // What loaded(x, training=True) computes: same user arguments, as many results. Without a body
  // name (empty) it is call_inference.
  ExportFunction call_training;
  std::vector<ExportSignature> signatures;
  // Functions that the two call (branches, loop bodies); null if none. Only those reached are
  // written.
  const ir::FunctionLibrary* library = nullptr;
};

struct SavedModelWriteOptions {
  // Replace the SavedModel or empty folder that is at `dir`; otherwise ALREADY_EXISTS if anything
  // is there.
  bool overwrite = true;
};

// Writes `dir`/saved_model.pb, variables/, assets/, fingerprint.pb into a temporary folder beside
// `dir` and renames it, so that nobody who watches the parent folder sees half a model. Equal
// exports give equal bytes.
//
// Where the file system can exchange two names, a `dir` that holds a model holds a whole one at any
// moment. Where it cannot, a crash in the moment of replacing can leave the old model as
// ReplacedName(dir); the next save puts it back first. A crash before it leaves a folder that the
// next save beside it removes (base/temporary.h). Several processes may save to one `dir`: one of
// them wins.
//
// ALREADY_EXISTS: what is at `dir` is a file, or a folder with anything but a SavedModel's files.
// INVALID_ARGUMENT: `dir` is "." or the like, arguments, captures or names do not fit each other,
// or a function holds an op without a schema (its outputs cannot be named). Errors of the Env pass
// through; nothing is left behind then, and what was at `dir` stays. That what was replaced cannot
// be removed is a warning.
Status WriteSavedModel(Env* env, const std::string& dir, const ModelExport& model,
                       const SavedModelWriteOptions& options = {});

// Whether WriteSavedModel could write to `dir` as things are now, with the errors that it would
// give: to be asked before hours of training.
Status CheckSavedModelTarget(Env* env, const std::string& dir,
                             const SavedModelWriteOptions& options = {});

}  // namespace slipway::formats
