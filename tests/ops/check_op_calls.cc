// SPDX-License-Identifier: Apache-2.0
//
// check_op_calls: reads op cases from standard input, a line each, and says which the kernels
// disagree with. Writes "@N" before it runs line N, so that whoever reads knows which line ended
// the process, and "N<tab>problem" for each disagreement. Ends by SIGALRM if a line takes a minute.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

#include "op_case_check.h"

namespace {

using slipway::Status;

Status Check(const std::string& line) {
  Status status = slipway::kernels::CheckOpCaseResult(line);
  return status.ok() ? slipway::kernels::CheckOpCaseShapes(line) : status;
}

}  // namespace

int main() {
  constexpr unsigned kSecondsPerLine = 60;
  size_t number = 0;
  for (std::string line; std::getline(std::cin, line); ++number) {
    std::printf("@%zu\n", number);
    std::fflush(stdout);
    alarm(kSecondsPerLine);
    const Status status = Check(line);
    if (status.ok()) continue;
    std::string problem(status.message());
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    std::printf("%zu\t%s\n", number, problem.c_str());
  }
  return 0;
}
