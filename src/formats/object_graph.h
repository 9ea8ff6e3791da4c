// SPDX-License-Identifier: Apache-2.0
//
// The objects of a SavedModel: what tf.saved_model.load makes of the file in Python, and which key
// of the checkpoint belongs to which of them. Inside `formats` only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/saved_model_writer.h"
#include "slipway/status.h"

namespace tensorflow {
class SavedBareConcreteFunction;
class SavedObject;
class SavedObjectGraph;
class StructuredValue;
class TrackableObjectGraph;
}  // namespace tensorflow

namespace slipway::formats {

// The names under which functions were written to the library.
struct FunctionNames {
  std::string call_inference;
  std::string call_training;
  std::vector<std::string> signatures;  // as ModelExport::signatures
};

// Object 0 is the root. Attributes, functions and variables hang below it.
class ObjectTree {
 public:
  // INVALID_ARGUMENT: two variables claim one path, or a path runs through a variable.
  static StatusOr<ObjectTree> Build(const ModelExport& model);

  // The checkpoint's key of each variable.
  const std::vector<std::string>& keys() const { return keys_; }
  void WriteCheckpointGraph(const ModelExport& model, tensorflow::TrackableObjectGraph* out) const;
  void WriteSavedGraph(const ModelExport& model, const FunctionNames& names,
                       tensorflow::SavedObjectGraph* out) const;

 private:
  enum class Kind { kObject, kList, kCall, kSignatures, kTrace, kVariable };
  struct Object {
    Kind kind = Kind::kObject;
    std::vector<std::pair<std::string, int>> children;
    int index = 0;  // of variables; of traces: 0 inference, 1 training, 2… signatures
  };

  int AddChild(int parent, const std::string& name, Kind kind, int index = 0);
  int FindChild(int parent, const std::string& name) const;
  Status AddVariable(const ModelExport& model, int variable);
  void AddVariableList(const ModelExport& model, const std::string& name, bool trainable_only);
  void AddFunctions(const ModelExport& model);
  void MarkLists();
  static void WriteKind(const ModelExport& model, const FunctionNames& names, const Object& object,
                        tensorflow::SavedObject* proto);
  static void WriteTrace(const ModelExport& model, const FunctionNames& names, int index,
                         tensorflow::SavedBareConcreteFunction* function);
  void WriteConcreteFunctions(const ModelExport& model, const FunctionNames& names,
                              tensorflow::SavedObjectGraph* out) const;

  std::vector<Object> objects_{Object()};
  std::vector<int> variable_objects_;
  std::vector<std::string> keys_;
};

// The user's arguments of a function: those before the captured handles.
size_t NumUserArgs(const ExportFunction& function);
// Positions of `names` in alphabetical order: how TensorFlow orders the entries of a dictionary.
std::vector<size_t> SortedOrder(const std::vector<std::string>& names);

}  // namespace slipway::formats
