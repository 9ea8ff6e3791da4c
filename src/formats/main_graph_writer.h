// SPDX-License-Identifier: Apache-2.0
//
// The parts of a MetaGraph that TensorFlow's loaders look for beside the functions: nodes for
// variables, signatures, saving and restoring, and the functions that save and restore. Inside
// `formats` only.
#pragma once

#include <string>
#include <vector>

#include "formats/object_graph.h"
#include "formats/saved_model_writer.h"
#include "slipway/status.h"

namespace tensorflow {
class FunctionDef;
class MetaGraphDef;
}  // namespace tensorflow

namespace slipway::formats {

// Calls call_inference under the names of the signature: arguments and results in alphabetical
// order, as Python's dictionaries are flattened.
void WriteSignatureWrapper(const ModelExport& model, const ExportSignature& signature,
                           const std::string& name, const std::string& callee,
                           tensorflow::FunctionDef* out);
// file_prefix, handles, object graph → writes a bundle of all variables and the object graph.
void WriteSaveFunction(const ModelExport& model, const std::vector<std::string>& keys,
                       const std::string& name, tensorflow::FunctionDef* out);
// file_prefix, handles → assigns all variables.
void WriteRestoreFunction(const ModelExport& model, const std::vector<std::string>& keys,
                          const std::string& name, tensorflow::FunctionDef* out);

struct MainGraphNames {
  FunctionNames functions;
  std::string save;
  std::string restore;
};
// The nodes of graph_def, signature_def, saver_def and the initialiser.
void WriteMainGraph(const ModelExport& model, const MainGraphNames& names,
                    const std::string& object_graph, tensorflow::MetaGraphDef* out);

}  // namespace slipway::formats
