// SPDX-License-Identifier: Apache-2.0
//
// The parts of a MetaGraph's graph that something runs: a signature, the restore op, the
// initialiser; each as a function, as it stands in the file.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "formats/saved_model_reader.h"
#include "ir/function.h"
#include "slipway/status.h"

namespace slipway::model {

// From the inputs of a signature to those of its outputs that `fetched` counts. INVALID_ARGUMENT
// names a tensor that is not there; UNIMPLEMENTED: an input or output of several tensors.
StatusOr<ir::Function> ExtractSignature(const formats::MetaGraph& meta_graph,
                                        const std::string& name, const formats::SignatureDef& def,
                                        std::span<const int> fetched);
// With all outputs.
StatusOr<ir::Function> ExtractSignature(const formats::MetaGraph& meta_graph,
                                        const std::string& name, const formats::SignatureDef& def);

// What the node `target` needs, and nothing else; `feeds` are names of tensors that become
// arguments. `name` stands in messages: "restore".
StatusOr<ir::Function> ExtractTarget(const formats::MetaGraph& meta_graph, const std::string& name,
                                     const std::string& target, std::span<const std::string> feeds);

// Names of the functions that a node calls or may call, with repetitions.
std::vector<std::string> Callees(const ir::Node& node);

// Calls `visit` for every node of `entry` and of the functions it reaches, each function once.
// NOT_FOUND for a function that is not there; the first error of `visit` ends it.
Status VisitReached(const ir::Function& entry, const ir::FunctionLibrary* library,
                    const std::function<Status(const ir::Node&, const ir::Function&)>& visit);

}  // namespace slipway::model
