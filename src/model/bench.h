// SPDX-License-Identifier: Apache-2.0
//
// How fast a signature is: calls from one or several threads, and which ops take the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/op_table.h"
#include "model/saved_model.h"
#include "slipway/status.h"

namespace slipway::model {

struct SynthesisOptions {
  int64_t batch = 1;       // of an unknown first dimension
  int64_t dimension = 16;  // of other unknown ones
  uint64_t seed = 1;
};

// Inputs that the signature's declaration allows: floats in [0, 1), zeros, false, empty strings;
// a shape of unknown rank is taken for [batch]. RESOURCE_EXHAUSTED over 4 GiB.
StatusOr<TensorMap> SynthesiseInputs(const Signature& signature, const SynthesisOptions& options);

struct BenchOptions {
  int callers = 1;
  double seconds = 2;
  int64_t warmup_calls = 3;
};

struct BenchResult {
  int callers = 0;
  int64_t calls = 0;
  double calls_per_second = 0;
  // Microseconds of one call.
  double min_us = 0, mean_us = 0, p50_us = 0, p90_us = 0, p99_us = 0, max_us = 0;
};

// Calls the signature with the same inputs from `callers` threads at once. The first error of a
// call ends it. Warm-up calls do not count.
StatusOr<BenchResult> Bench(const Signature& signature, const TensorMap& inputs,
                            const BenchOptions& options);

// Runs `calls` calls one after the other and notes what each op took.
Status Profile(const Signature& signature, const TensorMap& inputs, int calls,
               exec::StepProfile* profile);

}  // namespace slipway::model
