// SPDX-License-Identifier: Apache-2.0
//
// Values that users of saved_model_cli type: Python's literals, and the few functions of NumPy that
// make arrays, such as `np.ones((2, 3), dtype=np.float32)`. Nothing else is evaluated: no operators
// but signs, no names, no attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::model {

struct PythonValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kComplex,
    kText,   // str
    kBytes,  // bytes
    kList,
    kTuple,
    kDict,   // items: key, value, key, value…
    kArray,  // NumPy's
    kDType,  // np.float32 and the like
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also of booleans
  double real = 0;
  double imaginary = 0;
  std::string text;
  std::vector<PythonValue> items;
  Tensor array;
  DType dtype = DType::kInvalid;
};

// What NumPy functions are known, for help texts.
inline constexpr char kNumpyFunctions[] =
    "np.array, np.asarray, np.ones, np.zeros, np.full, np.arange, np.linspace, np.eye, np.float32 "
    "and the like, .astype, .reshape";

struct PythonExprOptions {
  bool numpy = true;  // off: literals only
  int max_depth = 64;
  int64_t max_elements = int64_t{1} << 28;  // of an array
};

// INVALID_ARGUMENT says what was seen where and what is evaluated; RESOURCE_EXHAUSTED over a limit.
StatusOr<PythonValue> ParsePython(std::string_view text, const PythonExprOptions& options = {});

// The array that np.array makes of it: float64, int64, bool, complex128 or strings (bytes; of text
// its UTF-8). INVALID_ARGUMENT: lists of unequal length, a mixture of text and numbers, None, a
// dictionary.
StatusOr<Tensor> ArrayFromPython(const PythonValue& value);

// Elements converted as numpy.asarray(…, dtype) does: a number or boolean to any number or boolean
// type; INVALID_ARGUMENT for text, and for complex numbers that would lose a part.
StatusOr<Tensor> ConvertArray(const Tensor& tensor, DType dtype);

// The serialized tf.Example of a dictionary {feature: list}: floats, texts or integers, the kind
// taken from the first element of the list, as saved_model_cli does.
StatusOr<std::string> ExampleFromPython(const PythonValue& value);

}  // namespace slipway::model
