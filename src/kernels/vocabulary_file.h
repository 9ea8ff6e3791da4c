// SPDX-License-Identifier: Apache-2.0
//
// Text files that fill lookup tables, one entry a line.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.h"
#include "slipway/tensor.h"

namespace slipway::kernels {

struct VocabularyOptions {
  static constexpr int64_t kLineNumber = -1;
  static constexpr int64_t kWholeLine = -2;
  int64_t key_index = kWholeLine;  // or a column
  int64_t value_index = kLineNumber;
  int64_t vocab_size = -1;  // lines to take; -1: all
  char delimiter = '\t';
  int64_t offset = 0;  // what is added to a line number
};

struct Vocabulary {
  Tensor keys, values;  // vectors of one length
};

// INVALID_ARGUMENT: indices that do not fit the dtypes, an empty line, too few columns or lines, a
// field that is no number. NOT_FOUND: no such file. OUT_OF_RANGE: the file is empty.
StatusOr<Vocabulary> ReadVocabulary(Env* env, const std::string& path, DType key_dtype,
                                    DType value_dtype, const VocabularyOptions& options);

}  // namespace slipway::kernels
