// SPDX-License-Identifier: Apache-2.0
//
// ir functions as FunctionDefs; inside `formats` only.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/function.h"
#include "slipway/status.h"

namespace tensorflow {
class FunctionDef;
class NodeDef;
class OpDef;
}  // namespace tensorflow

namespace slipway::formats {

// What a DT_RESOURCE argument holds; of the other arguments, nothing.
struct HandleData {
  DType dtype = DType::kInvalid;
  PartialShape shape;
};

// What functions that were written need beside them.
struct WriteNeeds {
  std::set<std::string> ops;
  std::set<std::string> functions;
};

// The function under `name`. `handles` has an element for each argument, or is empty. The names of
// arguments, results and nodes are made valid.
// INVALID_ARGUMENT names a node whose op has no schema.
Status WriteFunction(const ir::Function& function, const std::string& name,
                     std::span<const HandleData> handles, tensorflow::FunctionDef* out,
                     WriteNeeds* needs);

// What TensorFlow demands of the names of arguments: [a-z][a-z0-9_]*.
std::string ValidArgName(std::string_view name);
// The same with a suffix that makes it differ from all in `taken`, into which it is put.
std::string UniqueArgName(std::string_view name, std::set<std::string>* taken);

// The same for nodes: [A-Za-z0-9.][A-Za-z0-9_.\\/-]*.
std::string UniqueNodeName(std::string_view name, std::set<std::string>* taken);

void SetHandleData(const HandleData& handle, tensorflow::OpDef* signature, int arg);
// Attributes that TensorFlow's loader wants of argument `i`: the name the user gave, the shape.
void DescribeArg(int i, const std::string& user_name, const PartialShape* shape,
                 tensorflow::FunctionDef* out);

// The schema as an OpDef.
Status WriteOpDef(const ir::OpSchema& schema, tensorflow::OpDef* out);

}  // namespace slipway::formats
