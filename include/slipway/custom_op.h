// SPDX-License-Identifier: Apache-2.0
//
// Ops of your own, in a shared library that is loaded by --custom_op_library (docs/custom-ops.md).
// Plain C, so that the library may be built with any compiler and need not be built anew with each
// release. A library has one entry point, slipway_register_ops, which registers its ops.
#ifndef SLIPWAY_CUSTOM_OP_H_
#define SLIPWAY_CUSTOM_OP_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Changes when a library built with an older header cannot be used any more. What is added to the
// end of SlipwayApi does not change it: SlipwayApi::struct_size tells what is there.
#define SLIPWAY_CUSTOM_OP_ABI_VERSION 1

// Error codes are gRPC's; 0 is success.
enum {
  SLIPWAY_OK = 0,
  SLIPWAY_INVALID_ARGUMENT = 3,
  SLIPWAY_RESOURCE_EXHAUSTED = 8,
  SLIPWAY_UNIMPLEMENTED = 12,
  SLIPWAY_INTERNAL = 13
};

// The node that is looked at or run. Valid only during the call that hands it out, and for that
// thread alone.
typedef struct SlipwayContext SlipwayContext;
typedef struct SlipwayRegistry SlipwayRegistry;

// What is known of a shape: rank -1 if not even the rank, dims[i] -1 if not that dimension. `dims`
// belongs to the context.
typedef struct SlipwayShape {
  int32_t rank;
  const int64_t* dims;
} SlipwayShape;

// `dtype` is a number of TensorFlow's DataType (DT_FLOAT is 1). `dims` and `data` belong to the
// context; data of inputs must not be written to. Elements lie in row-major order, aligned to 64
// bytes. For strings (DT_STRING, 7) `data` is null: use get_string and set_string.
typedef struct SlipwayTensor {
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  int64_t num_elements;
  void* data;
} SlipwayTensor;

// What a library may call. Functions that return int give 0, or an error code; the reason is then
// kept in the context, and it is enough to return the code.
typedef struct SlipwayApi {
  uint32_t abi_version;
  size_t struct_size;

  // Attributes, as TensorFlow names and types them. A type is given as its DataType number. The
  // text of a string attribute is not terminated and belongs to the context.
  int (*attr_int)(SlipwayContext*, const char* name, int64_t* value);
  int (*attr_float)(SlipwayContext*, const char* name, float* value);
  int (*attr_bool)(SlipwayContext*, const char* name, int* value);
  int (*attr_string)(SlipwayContext*, const char* name, const char** text, size_t* size);
  int (*attr_type)(SlipwayContext*, const char* name, int32_t* value);
  int32_t (*num_inputs)(SlipwayContext*);
  int32_t (*num_outputs)(SlipwayContext*);

  // For shape functions.
  int (*input_shape)(SlipwayContext*, int32_t input, SlipwayShape* shape);
  int (*set_output_shape)(SlipwayContext*, int32_t output, int32_t rank, const int64_t* dims);

  // For kernels. allocate_output once for each output; what it gives is not set.
  int (*input)(SlipwayContext*, int32_t input, SlipwayTensor* tensor);
  int (*allocate_output)(SlipwayContext*, int32_t output, int32_t rank, const int64_t* dims,
                         SlipwayTensor* tensor);
  int (*get_string)(SlipwayContext*, int32_t input, int64_t element, const char** text,
                    size_t* size);
  int (*set_string)(SlipwayContext*, int32_t output, int64_t element, const char* text,
                    size_t size);

  // Keeps the reason for an error (a copy of the text) and returns the code.
  int (*error)(SlipwayContext*, int code, const char* message);
} SlipwayApi;

typedef int (*SlipwayOpFunction)(const SlipwayApi* api, SlipwayContext* context);

// An op. The texts are those of TensorFlow's op definitions, in short:
//   inputs   "x: T, weights: float32, more: N * T"
//   outputs  "y: T"
//   attrs    "T: {float32, float64}, axis: int = -1, mode: {'a', 'b'} = 'a', N: int >= 1"
// What `inputs` and `outputs` name as a type is a type attribute of `attrs` or a fixed type.
typedef struct SlipwayOp {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* attrs;
  // Not 0: running it does more than compute its outputs, so that it is never left out, run at load
  // time or run twice.
  int32_t stateful;
  // May be null: nothing is known of the outputs' shapes before it runs.
  SlipwayOpFunction shape;
  // Called from any number of threads at once.
  SlipwayOpFunction kernel;
} SlipwayOp;

// Registers an op; the texts are copied. Not 0: what is wrong was noted, go on or return the code.
typedef int (*SlipwayRegisterOp)(SlipwayRegistry* registry, const SlipwayOp* op);

#if defined(__GNUC__)
#define SLIPWAY_CUSTOM_OP_EXPORT __attribute__((visibility("default")))
#else
#define SLIPWAY_CUSTOM_OP_EXPORT
#endif

// What a library defines. The first returns SLIPWAY_CUSTOM_OP_ABI_VERSION, the second registers the
// library's ops and returns 0, or an error code; nothing is registered then.
SLIPWAY_CUSTOM_OP_EXPORT uint32_t slipway_custom_op_abi_version(void);
SLIPWAY_CUSTOM_OP_EXPORT int slipway_register_ops(SlipwayRegistry* registry,
                                                  SlipwayRegisterOp register_op);

#ifdef __cplusplus
}
#endif

#endif  // SLIPWAY_CUSTOM_OP_H_
