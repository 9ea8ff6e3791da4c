/* SPDX-License-Identifier: Apache-2.0
 *
 * Two ops of one's own for models that slipway runs: a library is this file and nothing else.
 *   cc -shared -fPIC -Iinclude examples/custom_op/ops.c -o ops.so
 *   slipway model run --custom_op_library=ops.so …
 */
#include <slipway/custom_op.h>

/* y = x where low <= x <= high, else the nearer of the two. */
static int ClampShape(const SlipwayApi* api, SlipwayContext* context) {
  SlipwayShape x;
  int error = api->input_shape(context, 0, &x);
  return error ? error : api->set_output_shape(context, 0, x.rank, x.dims);
}

static int Clamp(const SlipwayApi* api, SlipwayContext* context) {
  SlipwayTensor x, y;
  float low, high;
  int error;
  if ((error = api->attr_float(context, "low", &low))) return error;
  if ((error = api->attr_float(context, "high", &high))) return error;
  if (low > high) return api->error(context, SLIPWAY_INVALID_ARGUMENT, "low is above high");
  if ((error = api->input(context, 0, &x))) return error;
  if ((error = api->allocate_output(context, 0, x.rank, x.dims, &y))) return error;
  const float* from = (const float*)x.data;
  float* to = (float*)y.data;
  for (int64_t i = 0; i < x.num_elements; ++i) {
    to[i] = from[i] < low ? low : from[i] > high ? high : from[i];
  }
  return SLIPWAY_OK;
}

/* Each text backwards, byte by byte. */
static int ReverseText(const SlipwayApi* api, SlipwayContext* context) {
  enum { kLongest = 4096 };
  SlipwayTensor x, y;
  char backwards[kLongest];
  int error;
  if ((error = api->input(context, 0, &x))) return error;
  if ((error = api->allocate_output(context, 0, x.rank, x.dims, &y))) return error;
  for (int64_t i = 0; i < x.num_elements; ++i) {
    const char* text;
    size_t size;
    if ((error = api->get_string(context, 0, i, &text, &size))) return error;
    if (size > kLongest) {
      return api->error(context, SLIPWAY_INVALID_ARGUMENT, "a text has more than 4096 bytes");
    }
    for (size_t c = 0; c < size; ++c) backwards[c] = text[size - 1 - c];
    if ((error = api->set_string(context, 0, i, backwards, size))) return error;
  }
  return SLIPWAY_OK;
}

uint32_t slipway_custom_op_abi_version(void) { return SLIPWAY_CUSTOM_OP_ABI_VERSION; }

int slipway_register_ops(SlipwayRegistry* registry, SlipwayRegisterOp register_op) {
  const SlipwayOp clamp = {
      "ExampleClamp", "x: float32", "y: float32", "low: float = 0, high: float = 1", 0,
      ClampShape,     Clamp};
  const SlipwayOp reverse = {"ExampleReverseText", "text: string", "reversed: string", "", 0,
                             ClampShape,           ReverseText};
  int error = register_op(registry, &clamp);
  return error ? error : register_op(registry, &reverse);
}
