// SPDX-License-Identifier: Apache-2.0
//
// Libraries of custom ops (include/slipway/custom_op.h).
#pragma once

#include <string>

#include "kernels/kernel.h"
#include "slipway/status.h"

namespace slipway::kernels {

// Loads a shared library and registers its ops, schemas and kernels, for the rest of the process;
// all of them or, on an error, none. A library that is loaded already is no error.
// INVALID_ARGUMENT: it cannot be opened, has no entry point, another ABI version or an op that is
// wrong; ALREADY_EXISTS: an op of that name is there. Thread safe.
//
// The library is code with all rights of this process.
Status LoadCustomOpLibrary(const std::string& path);

// FindKernel knows it from now on. Thread safe.
void AddKernel(KernelDef def);

}  // namespace slipway::kernels
