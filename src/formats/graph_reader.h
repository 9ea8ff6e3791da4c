// SPDX-License-Identifier: Apache-2.0
//
// GraphDef and FunctionDef as ir graphs and functions; inside `formats` only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/proto_values.h"
#include "ir/function.h"
#include "ir/graph.h"
#include "slipway/status.h"

namespace tensorflow {
class FunctionDef;
class GraphDef;
class OpDef;
}  // namespace tensorflow

namespace slipway::formats {

// What reading any graph of a file needs to know of the file. Shared by the functions that are
// still to be parsed; immutable but for the budget.
struct GraphContext {
  GraphContext(uint64_t max_constant_bytes, uint64_t max_constants_bytes, int64_t max_nodes)
      : budget(max_constant_bytes, max_constants_bytes), max_nodes(max_nodes) {}

  ConstantBudget budget;
  int64_t max_nodes;
  // Schemas that the file brings along (stripped_op_list), for ops that we do not know.
  std::map<std::string, ir::OpSchema, std::less<>> file_schemas;
  // Signatures of the library's functions: a node's op may be the name of a function.
  std::map<std::string, ir::OpSchema, std::less<>> function_schemas;
};

// The nodes, in topological order. Ops without a schema of ours become opaque nodes.
// INVALID_ARGUMENT names the node: a name that is taken, an input that is not there, a cycle (but
// through NextIteration), an attribute or input that does not fit the op.
StatusOr<ir::Graph> ReadGraph(const tensorflow::GraphDef& graph, GraphContext& context);
// Its errors do not name the function: the library that holds it does.
StatusOr<ir::Function> ReadFunction(const tensorflow::FunctionDef& function, GraphContext& context);

}  // namespace slipway::formats
