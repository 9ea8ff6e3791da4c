# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def optimizers(c):
    for dtype in (np.float32, np.float64):
        name = tf.as_dtype(dtype).name
        s = dtype

        def v():
            return floats(3, 7, dtype=dtype)

        def positive():
            return floats(3, 7, dtype=dtype, low=0.1, high=2)

        c.add("ResourceApplyGradientDescent", [None, s(0.1), v()], variables={0: v()}, note=name)
        for nesterov in (False, True):
            for op in ["ResourceApplyMomentum", "ResourceApplyKerasMomentum"]:
                c.add(op, [None, None, s(0.1), v(), s(0.9)], {"use_nesterov": nesterov},
                      variables={0: v(), 1: v()}, note=name)
            c.add("ResourceApplyAdam",
                  [None, None, None, s(0.81), s(0.998), s(0.01), s(0.9), s(0.999), s(1e-7), v()],
                  {"use_nesterov": nesterov}, variables={0: v(), 1: v(), 2: positive()}, note=name)
        for update in (True, False):
            c.add("ResourceApplyAdagradV2", [None, None, s(0.1), s(1e-7), v()], {"update_slots": update},
                  variables={0: v(), 1: positive()}, note=name)
        c.add("ResourceApplyRMSProp", [None, None, None, s(0.1), s(0.9), s(0.5), s(1e-7), v()],
              variables={0: v(), 1: positive(), 2: v()}, note=name)
    c.add("ResourceApplyGradientDescent", [None, np.float32(0.1), floats(3)], variables={0: floats(2)},
          note="bad", error="do not have the same shape")
    c.add("ResourceApplyGradientDescent", [None, floats(2), floats(2)], variables={0: floats(2)},
          note="scalar", error="alpha")
