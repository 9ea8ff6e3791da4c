// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that restore ops have open: a model restores hundreds of variables with an op each,
// and the index of the checkpoint is read once.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "checkpoint/bundle.h"
#include "kernels/resources.h"

namespace slipway::kernels {

// The bundle, kept open in the container until CloseBundles. Opened again if its index has changed.
// A null container keeps nothing.
StatusOr<std::shared_ptr<const BundleReader>> OpenBundle(ResourceContainer* resources, Env* env,
                                                         const std::string& prefix);
void CloseBundles(ResourceContainer* resources);

}  // namespace slipway::kernels
