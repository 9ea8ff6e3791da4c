// SPDX-License-Identifier: Apache-2.0
//
// Mutations of a SavedModel that keep it parseable: other ops, edges, attributes and constants.
// Blind changes of bytes hardly ever reach the passes and kernels behind the parser.
#pragma once

#include <cstdint>
#include <random>

#include "proto/saved_model.pb.h"

namespace slipway::fuzz {

// Changes one thing. The same seed makes the same change.
void MutateSavedModel(tensorflow::SavedModel* model, uint32_t seed);

}  // namespace slipway::fuzz
