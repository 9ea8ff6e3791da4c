// SPDX-License-Identifier: Apache-2.0
//
// SavedModel files as typed values: bytes → protobuf → MetaGraphs with ir graphs, functions that
// are parsed when first reached, signatures, and what loading has to run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "formats/python_functions.h"
#include "ir/function.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::formats {

// One named input or output of a signature.
struct SignatureTensor {
  std::string name;         // as clients say it: "x"
  std::string tensor_name;  // in the graph: "serving_default_x:0"; empty for other encodings
  DType dtype = DType::kInvalid;
  bool is_reference = false;  // of that type, as variables of TensorFlow 1 are
  PartialShape shape;
  // Composite tensors: names of the component tensors (sparse: values, indices, dense_shape).
  std::vector<std::string> components;
};

struct SignatureDef {
  std::string method_name;                              // "tensorflow/serving/predict"
  std::vector<SignatureTensor> inputs;                  // by name
  std::vector<SignatureTensor> outputs;                 // by name
  std::map<std::string, Tensor, std::less<>> defaults;  // of inputs a request may leave out
};

struct SaverDef {
  std::string filename_tensor;  // "saver_filename:0"; all empty if nothing is restored
  std::string save_tensor;
  std::string restore_op;  // a node
  bool is_v1 = false;      // the format of the checkpoint is not the bundle's
};

struct AssetFile {
  std::string tensor_name;  // fed with the path when initialisers run
  std::string filename;     // below assets/; never leads out of it
};

// A variable of the object graph (what `loaded.variables` would list), for listings.
struct VariableInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  PartialShape shape;
  bool trainable = false;
};

struct MetaGraph {
  std::vector<std::string> tags;  // in the order of the file
  std::string tensorflow_version;
  ir::Graph graph;
  std::shared_ptr<ir::FunctionLibrary> functions;
  std::map<std::string, SignatureDef, std::less<>> signatures;
  // Entries that only name an initialiser ("__saved_model_init_op"), for listings.
  std::map<std::string, SignatureDef, std::less<>> pseudo_signatures;
  std::set<std::string> ops;  // that the graph and the functions it calls hold, for listings
  SaverDef saver;
  // The node that initialises (tables, assets…) after restoring; empty if there is none.
  std::string init_op;
  std::vector<AssetFile> assets;
  std::vector<VariableInfo> variables;
  // Models of TensorFlow 1 have no object graph.
  bool has_object_graph = false;
  std::vector<PythonFunction> python_functions;
};

struct SavedModelFile {
  std::vector<MetaGraph> meta_graphs;

  // The MetaGraph with exactly these tags; NOT_FOUND lists the tag sets there are.
  StatusOr<MetaGraph*> Find(std::span<const std::string> tags);
};

// What a file may ask of us. Files are not trusted.
struct ReadLimits {
  uint64_t max_file_bytes = uint64_t{2} << 30;      // protobuf's own limit
  int max_nesting = 100;                            // of messages within messages
  int64_t max_nodes = 4'000'000;                    // in one graph or function
  uint64_t max_constant_bytes = uint64_t{1} << 30;  // of one constant once expanded
};

// Where a save that replaces the SavedModel at `dir` keeps it until the new one stands.
std::string ReplacedName(std::string_view dir);

// Reads `dir`/saved_model.pb, or saved_model.pbtxt if there is no .pb.
// NOT_FOUND without either file (an interrupted save is named); DATA_LOSS if it cannot be parsed;
// INVALID_ARGUMENT names the node or signature that is wrong (an asset that lies outside assets/
// too); RESOURCE_EXHAUSTED over a limit.
StatusOr<SavedModelFile> ReadSavedModel(Env* env, const std::string& dir,
                                        const ReadLimits& limits = {});
// One MetaGraph of it, as SavedModelFile::Find; the others are not looked into.
StatusOr<MetaGraph> ReadMetaGraph(Env* env, const std::string& dir,
                                  std::span<const std::string> tags,
                                  const ReadLimits& limits = {});
// The bytes of a saved_model.pb; `name` stands in messages.
StatusOr<SavedModelFile> ParseSavedModel(std::string bytes, const std::string& name,
                                         const ReadLimits& limits = {});

// "node:1" or "node" as an output of the graph. INVALID_ARGUMENT names what is missing.
StatusOr<ir::Output> FindTensor(const ir::Graph& graph, std::string_view tensor_name);

}  // namespace slipway::formats
