// SPDX-License-Identifier: Apache-2.0
//
// Ops of TensorFlow that reach beyond the model: files, other machines, code outside the graph.
// Those that Slipway does not have are known, too: `slipway model scan` tells of them.
#pragma once

#include <optional>
#include <string_view>

namespace slipway::model {

enum class OpRisk { kReadsFiles, kWritesFiles, kNetwork, kRunsCode };

// Nothing for an op that stays within the graph.
std::optional<OpRisk> RiskOf(std::string_view op);

// "reads files"
std::string_view RiskText(OpRisk risk);

}  // namespace slipway::model
