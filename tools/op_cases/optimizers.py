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
    for dtype in FLOATS:
        name, s, rows = tf.as_dtype(dtype).name, dtype, i32(2, 0, 2)

        def v(rows=4):
            return floats(rows, 3, dtype=dtype)

        def positive():
            return floats(4, 3, dtype=dtype, low=0.1, high=2)

        near = {"rtol": 0.06, "atol": 0.06} if dtype in (np.float16, BF16) else {}
        for scaled in (False, True):
            for power in (-0.5, -0.6):
                options = {"multiply_linear_by_lr": scaled}
                state = {0: v(), 1: positive(), 2: v()}
                rates = [s(0.1), s(0.05), s(0.2)]
                c.add("ResourceApplyFtrl", [None, None, None, v(), *rates, s(power)], options, variables=state, note=name, **near)
                c.add("ResourceApplyFtrlV2", [None, None, None, v(), *rates, s(0.1), s(power)], options, variables=state,
                      note=name, **near)
                c.add("ResourceSparseApplyFtrl", [None, None, None, v(3), rows, *rates, s(power)], options,
                      variables=state, note=name, **near)
                c.add("ResourceSparseApplyFtrlV2", [None, None, None, v(3), rows, *rates, s(0.1), s(power)], options,
                      variables=state, note=name, **near)
        for update in (False, True):
            options, state = {"update_slots": update}, {0: v(), 1: positive()}
            c.add("ResourceApplyAdagrad", [None, None, s(0.1), v()], options, variables=state, note=name)
            c.add("ResourceSparseApplyAdagrad", [None, None, s(0.1), v(3), rows], options, variables=state, note=name)
            c.add("ResourceSparseApplyAdagradV2", [None, None, s(0.1), s(1e-3), v(3), rows.astype(np.int64)], options,
                  variables=state, note=name)
        for nesterov in (False, True):
            for op in ("ResourceSparseApplyMomentum", "ResourceSparseApplyKerasMomentum"):
                c.add(op, [None, None, s(0.1), v(3), rows, s(0.9)], {"use_nesterov": nesterov},
                      variables={0: v(), 1: v()}, note=name)
    c.add("ResourceSparseApplyAdagradV2", [None, None, np.float32(0.1), np.float32(0), floats(1, 3), i32(4)],
          variables={0: floats(4, 3), 1: floats(4, 3)}, note="range", error="out of range")
    c.add("ResourceApplyGradientDescent", [None, np.float32(0.1), floats(3)], variables={0: floats(2)},
          note="bad", error="do not have the same shape")
    c.add("ResourceApplyGradientDescent", [None, floats(2), floats(2)], variables={0: floats(2)},
          note="scalar", error="alpha")
