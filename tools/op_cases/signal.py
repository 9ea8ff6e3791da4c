# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def signal(c):
    near = {np.complex64: {"rtol": 2e-5, "atol": 2e-5}, np.complex128: {"rtol": 1e-10, "atol": 1e-10}}
    for dtype in COMPLEX:
        name, tolerance = np.dtype(dtype).name, near[dtype]
        real = np.float32 if dtype == np.complex64 else np.float64
        types = {"Treal": tf.as_dtype(real), "Tcomplex": tf.as_dtype(dtype)}
        for n in (1, 2, 3, 4, 5, 8, 12, 30, 49, 37, 74):
            for op in ("FFT", "IFFT"):
                c.add(op, [complexes(n, dtype=dtype)], note=f"{n}_{name}", **tolerance)
            c.add("RFFT", [floats(n, dtype=real), i32(n)], types, note=f"{n}_{name}", **tolerance)
            c.add("IRFFT", [complexes(n // 2 + 1, dtype=dtype), i32(n)], types, note=f"{n}_{name}", **tolerance)
        c.add("FFT", [complexes(2, 3, 6, dtype=dtype)], note=f"batch_{name}", **tolerance)
        for op in ("FFT2D", "IFFT2D", "FFT3D", "IFFT3D"):
            c.add(op, [complexes(2, 3, 4, 5, dtype=dtype)], note=name, **tolerance)
        c.add("RFFT2D", [floats(2, 4, 5, dtype=real), i32(4, 5)], types, note=name, **tolerance)
        c.add("RFFT3D", [floats(2, 3, 4, 6, dtype=real), i32(3, 4, 6)], types, note=name, **tolerance)
        c.add("IRFFT2D", [complexes(2, 4, 3, dtype=dtype), i32(4, 5)], types, note=name, **tolerance)
        c.add("IRFFT3D", [complexes(2, 3, 4, 4, dtype=dtype), i32(3, 4, 6)], types, note=name, **tolerance)
    c.add("FFT", [complexes(0, 3)], note="empty")
    c.add("FFT", [np.complex64(1)], note="rank", error="")
    c.add("FFT2D", [complexes(3)], note="rank", error="")
    c.add("RFFT", [floats(4), i32(8)], note="short", error="must have length of at least 8 but got: 4")
    c.add("IRFFT", [complexes(3), i32(8)], note="short", error="must have length of at least 5 but got: 3")
    c.add("RFFT", [floats(4), i32(-1)], note="negative", error="")
    c.add("RFFT", [floats(4), i32(2, 2)], note="lengths", error="")
