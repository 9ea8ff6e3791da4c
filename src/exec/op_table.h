// SPDX-License-Identifier: Apache-2.0
//
// A profile as a table: which ops took the time.
#pragma once

#include <string>
#include <vector>

#include "exec/profile.h"

namespace slipway::exec {

struct OpRow {
  std::string name;  // of the op, or of the node
  int64_t calls = 0;
  int64_t self_ns = 0;  // without what ran inside it (bodies of loops, branches, calls)
  double flops = 0;
  double bytes = 0;
};

// One row an op (or a node), the most time first. Events of one thread that lie within another one
// are what that one ran.
std::vector<OpRow> OpTable(const StepProfile& profile, bool by_node = false);

// The time below which these operations cannot be: from FLOPs, and from memory where more is moved
// than `cache_bytes` (what lies in a cache is read faster).
int64_t FloorNanos(const OpRow& row, double gflops, double gb_per_second, double cache_bytes);

}  // namespace slipway::exec
