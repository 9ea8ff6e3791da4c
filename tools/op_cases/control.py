# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def control(c):
    for op in ["Identity", "StopGradient", "PreventGradient", "Snapshot"]:
        c.add(op, [floats(2, 3)])
        c.add(op, [ints(3)], note="int32")
    c.add("IdentityN", [[floats(2), ints(3)]], expect=None)
    c.add("PlaceholderWithDefault", [floats(2)], {"shape": [2]})
    c.add("EnsureShape", [floats(2, 3)], {"shape": [-1, 3]})
    c.add("EnsureShape", [floats(2, 3)], {"shape": [-1, 4]}, note="bad", error="is not compatible with expected shape")
    c.add("CheckNumerics", [floats(3)], {"message": "m"})
    c.add("CheckNumerics", [np.array([1, NAN], np.float32)], {"message": "here"}, note="nan",
          error="here : Tensor had NaN values")
    c.add("CheckNumerics", [np.array([1, INF], np.float64)], {"message": "here"}, note="inf",
          error="here : Tensor had")
    c.add("CheckNumerics", [np.array([NAN, INF], np.float32)], {"message": "here"}, note="both",
          error="here : Tensor had")
    c.add("Assert", [np.array(True), [np.array("message")]])
    c.add("Assert", [np.array(False), [np.array("not so:"), ints(5), floats(2, 2)]], note="fails",
          error="assertion failed: [not so:] [")
