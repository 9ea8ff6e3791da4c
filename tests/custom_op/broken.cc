// SPDX-License-Identifier: Apache-2.0
//
// Libraries of custom ops that are wrong, one a value of BROKEN.
#include <slipway/custom_op.h>

#define VERSION_FROM_THE_FUTURE 1
#define NO_ENTRY 2
#define OP_THAT_IS_THERE 3
#define WRONG_SCHEMA 4
#define FAILING_KERNELS 5

extern "C" {

uint32_t slipway_custom_op_abi_version(void) {
  return SLIPWAY_CUSTOM_OP_ABI_VERSION + (BROKEN == VERSION_FROM_THE_FUTURE ? 1 : 0);
}

#if BROKEN != NO_ENTRY

static int Nothing(const SlipwayApi*, SlipwayContext*) { return SLIPWAY_OK; }

static int Refuse(const SlipwayApi* api, SlipwayContext* context) {
  return api->error(context, SLIPWAY_INVALID_ARGUMENT, "not on my watch");
}

static int BeyondItsOutputs(const SlipwayApi* api, SlipwayContext* context) {
  SlipwayTensor tensor;
  return api->allocate_output(context, 7, 0, nullptr, &tensor);
}

static int NegativeSize(const SlipwayApi* api, SlipwayContext* context) {
  const int64_t dims[] = {-5};
  SlipwayTensor tensor;
  return api->allocate_output(context, 0, 1, dims, &tensor);
}

static int OddCode(const SlipwayApi*, SlipwayContext*) { return -77; }

int slipway_register_ops(SlipwayRegistry* registry, SlipwayRegisterOp register_op) {
  const auto add = [&](const char* name, const char* attrs, SlipwayOpFunction kernel) {
    const SlipwayOp op = {name, "x: float32", "y: float32", attrs, 0, nullptr, kernel};
    return register_op(registry, &op);
  };
  if (BROKEN == OP_THAT_IS_THERE) {
    add("BrokenBesideMatMul", "", Nothing);
    return add("MatMul", "", Nothing);
  }
  if (BROKEN == WRONG_SCHEMA) return add("BrokenSchema", "axis: elephant", Nothing);
  add("BrokenRefuse", "", Refuse);
  add("BrokenNothing", "", Nothing);
  add("BrokenBeyond", "", BeyondItsOutputs);
  add("BrokenNegative", "", NegativeSize);
  return add("BrokenOddCode", "", OddCode);
}

#endif

}  // extern "C"
