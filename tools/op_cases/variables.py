# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def variables(c):
    for dtype in (np.float32, np.int64, np.float16):
        x = any_numbers(dtype, 2, 3)
        for op in ["AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp"]:
            c.add(op, [None, any_numbers(dtype, 2, 3)], variables={0: x}, note=tf.as_dtype(dtype).name)
        c.add("ReadVariableOp", [None], {"dtype": tf.as_dtype(dtype)}, variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("VariableShape", [None], variables={0: x}, note=tf.as_dtype(dtype).name)
        c.add("ResourceGather", [None, i32(1, 0, 1)], {"dtype": tf.as_dtype(dtype)}, variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("ResourceScatterAdd", [None, i32(1, 1), any_numbers(dtype, 2, 3)], variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("ResourceScatterUpdate", [None, i32(1), any_numbers(dtype, 1, 3)], variables={0: x},
              note=tf.as_dtype(dtype).name)
    c.add("VarIsInitializedOp", [None], variables={0: floats(2)})
    c.add("AssignAddVariableOp", [None, floats(3)], variables={0: floats(2)}, note="bad", error="")
    c.add("AssignVariableOp", [None, floats(3)], {"dtype": tf.float32, "validate_shape": True},
          variables={0: floats(2)}, note="bad", error="")
    c.add("ReadVariableOp", [None], {"dtype": tf.int32}, variables={0: floats(2)}, note="bad", error="")
    c.add("ResourceGather", [None, i32(2)], {"dtype": tf.float32}, variables={0: floats(2)}, note="range",
          error="indices[0] = 2 is not in [0, 2)")
    c.add("ResourceScatterAdd", [None, i32(2), floats(1)], variables={0: floats(2)}, note="range", error="")
    c.add("ResourceScatterAdd", [None, i32(0, 1), np.float32(2)], variables={0: floats(2)}, note="scalar")
