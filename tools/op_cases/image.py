# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

PIXELS = FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]
CENTRES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
METHODS = ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]


def resizes(c):
    for op in METHODS:
        modes = CENTRES[:2] if op == "ResizeArea" else CENTRES
        for attrs in modes:
            for size in [(4, 5), (8, 10), (7, 3), (1, 1), (2, 13), (3, 1)]:
                c.add(op, [floats(2, 4, 5, 3), i32(*size)], attrs, note=f"{size[0]}x{size[1]}",
                      atol=1e-5)
            c.add(op, [floats(1, 1, 1, 2), i32(3, 4)], attrs, note="one_pixel", atol=1e-5)
            c.add(op, [floats(1, 9, 1, 1), i32(4, 6)], attrs, note="column", atol=1e-5)
        for dtype in PIXELS:
            c.add(op, [any_numbers(dtype, 1, 3, 4, 2), i32(5, 3)], modes[-1],
                  note=tf.as_dtype(dtype).name, atol=1e-5 if dtype != np.float16 else 2e-3)
        special = np.array([1, NAN, 2, INF, -INF, 3, 4, 5, 6], np.float32).reshape(1, 3, 3, 1)
        c.add(op, [special, i32(3, 3)], note="special_same")
        # Of infinity, interpolation makes what its order of sums makes: not compared.
        special = np.where(np.isinf(special), np.float32(7), special)
        c.add(op, [special, i32(6, 6)], modes[-1], note="special")
        c.add(op, [floats(0, 2, 2, 1), i32(3, 3)], note="empty_batch")
        c.add(op, [floats(1, 2, 2, 0), i32(3, 3)], note="no_channels",
              error="image must have at least one channel")
        for shape in [(1, 0, 2, 1), (1, 2, 0, 1)]:
            c.add(op, [floats(*shape), i32(3, 3)], note="no_pixels",
                  error="input image must be of non-zero size")
        for size in [(0, 3), (3, 0), (-1, 3)]:
            c.add(op, [floats(1, 2, 2, 1), i32(*size)], note="size",
                  error="must be positive" if size[0] >= 0 else "")
        c.add(op, [floats(2, 2, 1), i32(3, 3)], note="rank", error="")
        c.add(op, [floats(1, 2, 2, 1), i32(3, 3, 3)], note="three", error="")
        c.add(op, [floats(1, 2, 2, 1), i32(2**31 - 1, 2**31 - 1)], note="huge", error="",
              expect=[], code="RESOURCE_EXHAUSTED")


def resize_gradients(c):
    for attrs in CENTRES:
        for shape in [(2, 4, 5, 3), (1, 1, 1, 2), (1, 7, 2, 1)]:
            for height, width in [(8, 10), (2, 3), (1, 1), (5, 4)]:
                grads = floats(shape[0], height, width, shape[3])
                for op in ["ResizeBilinearGrad", "ResizeBicubicGrad"]:
                    c.add(op, [grads, floats(*shape)], attrs, atol=2e-5)
                c.add("ResizeNearestNeighborGrad", [grads, i32(*shape[1:3])], attrs, atol=1e-5)
        for dtype in FLOATS:
            c.add("ResizeBilinearGrad", [floats(1, 5, 3, 2), floats(1, 3, 4, 2, dtype=dtype)],
                  attrs, note=tf.as_dtype(dtype).name, rtol=2e-2, atol=2e-2)
        c.add("ResizeBicubicGrad", [floats(1, 5, 3, 2), floats(1, 3, 4, 2, dtype=np.float64)],
              attrs, note="float64", atol=2e-5)
        for dtype in FLOATS + [np.int8, np.int32, np.uint8]:
            c.add("ResizeNearestNeighborGrad", [any_numbers(dtype, 1, 5, 6, 2), i32(3, 2)], attrs,
                  note=tf.as_dtype(dtype).name)
    x = floats(1, 4, 4, 1)
    for op in ["ResizeBilinearGrad", "ResizeBicubicGrad"]:
        c.add(op, [x[:0], x[:0]], note="empty")
        c.add(op, [x[0], x], note="rank", error="input_grad must be 4-dimensional[4,4,1]")
        c.add(op, [x, x[0]], note="rank", error="original_image must be 4-dimensional[4,4,1]")
        c.add(op, [x, x[:, :0]], note="no_pixels", error="original dimensions must be positive")
        c.add(op, [x[:, :0], x], note="no_pixels", error="resized dimensions must be positive")
        # TensorFlow reads and writes beyond its memory.
        c.add(op, [x, floats(2, 2, 2, 1)], note="batch", expect=[], error="does not fit")
        c.add(op, [x, floats(1, 2, 2, 2)], note="channels", expect=[], error="does not fit")
        c.add(op, [x, x], CENTRES[1] | CENTRES[2], note="both",
              error="If half_pixel_centers is True, align_corners must be False.")
    op = "ResizeNearestNeighborGrad"
    c.add(op, [x[:, :0], i32(2, 2)], note="no_pixels")
    c.add(op, [x[:0], i32(2, 2)], note="empty")
    c.add(op, [x[0], i32(2, 2)], note="rank", error="input must be 4-dimensional[4,4,1]")
    c.add(op, [x, i32(2, 2, 2)], note="three", error="shape_t must have two elements[3]")
    c.add(op, [x, i32(0, 2)], note="size", error="shape_t's elements must be positive")


def scales(c):
    kernels = ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
               "mitchellcubic"]
    x = floats(2, 5, 6, 2)
    for kernel in kernels:
        for antialias in [False, True]:
            attrs = {"kernel_type": kernel, "antialias": antialias}
            for size, scale, shift in [((3, 3), (0.6, 0.5), (0, 0)), ((9, 12), (1.8, 2), (0, 0)),
                                       ((5, 6), (1, 1), (0.4, -1.3))]:
                c.add("ScaleAndTranslate", [x, i32(*size), np.array(scale, np.float32),
                                            np.array(shift, np.float32)], attrs, note=kernel,
                      atol=1e-5)
    one, none = np.ones(2, np.float32), np.zeros(2, np.float32)
    for dtype in PIXELS:
        c.add("ScaleAndTranslate", [any_numbers(dtype, 1, 3, 4, 2), i32(2, 3), one * 0.7, none],
              note=tf.as_dtype(dtype).name, atol=1e-5)
    c.add("ScaleAndTranslate", [x, i32(3, 3), one, one * 100], note="outside")
    c.add("ScaleAndTranslate", [floats(0, 2, 2, 1), i32(3, 3), one, none], note="empty")
    c.add("ScaleAndTranslate", [x, i32(3, 3), one, none], {"kernel_type": "x"}, note="kernel",
          error="Unrecognized kernel type: x")
    c.add("ScaleAndTranslate", [x, i32(3, 3), none, none], note="zero",
          error="cale must be greater than zero")
    c.add("ScaleAndTranslate", [x, i32(3, 0), one, none], note="size",
          error="output dimensions must be positive")


def crops(c):
    x = floats(2, 5, 6, 2)
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.3, 0.5, 1.4, 2],
                      [0.5, 0.5, 0.5, 0.5], [-1e6, 0, 1, 1], [0, 0, 1e6, 1]], np.float32)
    index = i32(0, 1, 1, 0, 1, 0, 1)
    for method in ["bilinear", "nearest"]:
        for size in [(3, 4), (1, 1), (8, 2), (1, 5)]:
            c.add("CropAndResize", [x, boxes, index, i32(*size)], {"method": method}, note=method)
        c.add("CropAndResize", [x, boxes, index, i32(2, 2)],
              {"method": method, "extrapolation_value": 7.5}, note=method)
        for dtype in PIXELS:
            if dtype != BF16:
                c.add("CropAndResize", [any_numbers(dtype, 1, 3, 4, 2), boxes[:4], i32(0, 0, 0, 0),
                                        i32(2, 3)], {"method": method},
                      note=tf.as_dtype(dtype).name)
        c.add("CropAndResize", [floats(1, 1, 1, 1), boxes[:3], i32(0, 0, 0), i32(2, 2)],
              {"method": method}, note="one_pixel")
    c.add("CropAndResize", [x, boxes[:0], index[:0], i32(2, 2)], note="no_boxes")
    for value in [NAN, INF]:
        c.add("CropAndResize", [x, boxes[:1] + value, i32(0), i32(2, 2)], note="infinite",
              error="Boxes contains at least one element that is not finite")
    c.add("CropAndResize", [x, boxes[:1], i32(2), i32(2, 2)], note="index", code="OUT_OF_RANGE",
          error="box_index has values outside [0, batch_size)")
    c.add("CropAndResize", [x, boxes[:1], i32(-1), i32(2, 2)], note="index", code="OUT_OF_RANGE",
          error="box_index has values outside [0, batch_size)")
    c.add("CropAndResize", [x, boxes[:2], i32(0), i32(2, 2)], note="count", error="box_ind")
    c.add("CropAndResize", [x, boxes[:1], i32(0), i32(0, 2)], note="size",
          error="crop dimensions must be positive")
    c.add("CropAndResize", [floats(1, 0, 2, 1), boxes[:1], i32(0), i32(2, 2)], note="no_pixels",
          error="image dimensions must be positive")
    c.add("CropAndResize", [x[0], boxes[:1], i32(0), i32(2, 2)], note="rank", error="")


def transforms(c):
    x = floats(2, 4, 5, 2)
    matrices = np.array([[1, 0, 0, 0, 1, 0, 0, 0], [0.8, 0.3, -1, -0.2, 1.1, 0.5, 0.02, -0.01]],
                        np.float32)
    far = np.array([[1, 0, -13, 0, 1, 17, 0, 0]], np.float32)
    for mode in ["CONSTANT", "REFLECT", "WRAP", "NEAREST"]:
        for way in ["NEAREST", "BILINEAR"]:
            attrs = {"interpolation": way, "fill_mode": mode}
            note = f"{mode}_{way}"
            c.add("ImageProjectiveTransformV2", [x, matrices, i32(4, 5)], attrs, note=note)
            for matrix in [matrices, matrices[1:], far, -far]:
                c.add("ImageProjectiveTransformV3", [x, matrix, i32(5, 3), np.float32(0.5)], attrs,
                      note=note)
            c.add("ImageProjectiveTransformV3", [floats(1, 1, 1, 1), matrices[1:], i32(3, 3),
                                                 np.float32(2)], attrs, note=note + "_one")
    attrs = {"interpolation": "BILINEAR", "fill_mode": "REFLECT"}
    for dtype in [np.float64, np.float16, BF16, np.int32, np.int64, np.uint8]:
        c.add("ImageProjectiveTransformV3", [any_numbers(dtype, 1, 4, 5, 2), matrices[1:],
                                             i32(3, 4), np.float32(1)], attrs,
              note=tf.as_dtype(dtype).name)
    c.add("ImageProjectiveTransformV3", [floats(0, 2, 2, 1), matrices[:1], i32(2, 2),
                                         np.float32(0)], attrs, note="empty")
    zero = np.array([[1, 0, 0, 0, 1, 0, -1, 0]], np.float32)
    c.add("ImageProjectiveTransformV3", [x, zero, i32(3, 3), np.float32(9)],
          {"interpolation": "NEAREST"}, note="horizon")
    c.add("ImageProjectiveTransformV3", [x, floats(3, 8), i32(3, 3), np.float32(9)], attrs,
          note="count", error="Input transform should be num_images x 8 or 1 x 8")
    c.add("ImageProjectiveTransformV3", [x, far, i32(0, 3), np.float32(9)], attrs, note="size",
          error="output dimensions must be positive")
    # TensorFlow logs these two and goes on.
    c.add("ImageProjectiveTransformV3", [x, far, i32(3, 3), np.float32(9)],
          {"interpolation": "x"}, note="way", expect=[], error="Invalid interpolation x")
    c.add("ImageProjectiveTransformV3", [x, far, i32(3, 3), np.float32(9)],
          {**attrs, "fill_mode": "x"}, note="mode", expect=[], error="Invalid mode x")


def colours(c):
    corners = np.array([[r, g, b] for r in (0, 0.5, 1) for g in (0, 0.5, 1) for b in (0, 0.5, 1)],
                       np.float32).reshape(1, 3, 9, 3)
    for op, factors in [("AdjustHue", [0.0, 0.1, -0.3, 0.5, 1.0, -1.0]),
                        ("AdjustSaturation", [0.0, 0.5, 1.0, 3.0, -1.0]),
                        ("AdjustContrastv2", [0.0, 0.5, 1.0, 2.5, -1.0])]:
        for factor in factors:
            c.add(op, [corners, np.float32(factor)], note="corners", atol=1e-5)
        c.add(op, [floats(2, 2, 3, 3, low=0, high=1), np.float32(0.7)], note="batch", atol=1e-5)
        c.add(op, [floats(2, 3, 3, low=-1, high=2), np.float32(0.7)], note="wide", atol=1e-5)
        c.add(op, [floats(2, 3, 3, dtype=np.float16, low=0, high=1), np.float32(0.7)], note="half")
        c.add(op, [floats(0, 2, 3), np.float32(0.7)], note="empty")
        c.add(op, [floats(3, 3), np.float32(0.7)], note="rank",
              error="input must be at least 3-D, got shape[3,3]")
        c.add(op, [floats(2, 3, 3), floats(1)], note="factor", error="must be scalar: [1]")
    c.add("AdjustContrastv2", [floats(2, 2, 3, 5), np.float32(1.7)], note="5ch", atol=1e-5)
    for op in ["AdjustHue", "AdjustSaturation"]:
        c.add(op, [floats(2, 3, 4), np.float32(0.7)], note="4ch",
              error="input must have 3 channels but instead has 4 channels.")
    for op in ["RGBToHSV", "HSVToRGB"]:
        for dtype in FLOATS:
            c.add(op, [corners.astype(dtype)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(4, 3, low=-1, high=2)], note="wide", atol=1e-5)
        c.add(op, [floats(3)], note="one", atol=1e-5)
        c.add(op, [floats(0, 3)], note="empty")
        c.add(op, [np.float32(1)], note="scalar", error="input must be at least 1D")
        c.add(op, [floats(2, 4)], note="4ch", code="FAILED_PRECONDITION",
              error="input must have 3 channels but input only has 4 channels.")


def drawings(c):
    boxes = np.array([[[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.8], [-0.5, -0.5, 0.5, 1.5]],
                      [[0.5, 0.5, 0.5, 0.5], [0.9, 0.9, 0.1, 0.1], [2, 2, 3, 3]]], np.float32)
    for channels in [1, 3, 4]:
        x = floats(2, 5, 6, channels)
        c.add("DrawBoundingBoxes", [x, boxes], note=f"{channels}ch")
        c.add("DrawBoundingBoxesV2", [x, boxes, floats(2, 4)], note=f"{channels}ch")
        c.add("DrawBoundingBoxesV2", [x, boxes, floats(0, 4)], note=f"{channels}ch_default")
    c.add("DrawBoundingBoxes", [floats(1, 4, 4, 3, dtype=np.float16), boxes[:1]], note="half")
    c.add("DrawBoundingBoxes", [floats(1, 4, 4, 1), boxes[:1, :0]], note="no_boxes")
    c.add("DrawBoundingBoxes", [floats(2, 6, 7, 3), np.tile(boxes, (1, 4, 1))], note="many")
    c.add("DrawBoundingBoxes", [floats(1, 4, 4, 2), boxes[:1]], note="2ch",
          error="Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    c.add("DrawBoundingBoxes", [floats(1, 4, 4, 1), boxes], note="batch", error="")
    c.add("DrawBoundingBoxes", [floats(4, 4, 1), boxes[:1]], note="rank", error="")


def suppressions(c):
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11],
                      [1, 11.1, 0, 10.1], [0, 100, 1, 101], [5, 5, 5, 6]], np.float32)
    scores = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3], np.float32)
    three = np.int32(3)
    for limit in [0, 1, 3, 30]:
        for threshold in [0.0, 0.5, 1.0]:
            c.add("NonMaxSuppression", [boxes, scores, np.int32(limit)],
                  {"iou_threshold": threshold})
    for dtype in [np.float32, np.float16]:
        b, s, half = boxes.astype(dtype), scores.astype(dtype), dtype(0.5)
        note = tf.as_dtype(dtype).name
        c.add("NonMaxSuppressionV2", [b, s, three, half], note=note)
        for least in [-INF, 0.0, 0.4, 2.0]:
            c.add("NonMaxSuppressionV3", [b, s, three, half, dtype(least)], note=note)
            for pads in [False, True]:
                attrs = {"pad_to_max_output_size": pads}
                c.add("NonMaxSuppressionV4", [b, s, np.int32(5), half, dtype(least)], attrs,
                      note=note)
                for sigma in [0.0, 0.5]:
                    c.add("NonMaxSuppressionV5", [b, s, np.int32(5), half, dtype(least),
                                                  dtype(sigma)], attrs, note=note)
    ties = np.zeros(7, np.float32)
    c.add("NonMaxSuppressionV3", [boxes, ties, np.int32(9), np.float32(0.5), np.float32(-1)],
          note="ties")
    unknown = np.array([NAN, 0.75, 0.6, NAN, 0.5, INF, -INF], np.float32)
    c.add("NonMaxSuppressionV3", [boxes, unknown, np.int32(9), np.float32(0.5), np.float32(-INF)],
          note="special")
    c.add("NonMaxSuppressionV3", [boxes[:0], scores[:0], three, np.float32(0.5), np.float32(0)],
          note="empty")
    c.add("NonMaxSuppressionV2", [boxes, scores[:3], three, np.float32(0.5)], note="scores",
          error="scores has incompatible shape")
    c.add("NonMaxSuppressionV2", [boxes, scores, three, np.float32(1.5)], note="threshold",
          error="iou_threshold must be in [0, 1]")
    c.add("NonMaxSuppressionV2", [boxes, scores, three, np.float32(NAN)], note="threshold",
          error="iou_threshold must be in [0, 1]")
    c.add("NonMaxSuppressionV2", [boxes[:, :3], scores, three, np.float32(0.5)], note="columns",
          error="boxes must have 4 columns")
    c.add("NonMaxSuppressionV2", [boxes, scores, np.int32(-1), np.float32(0.5)], note="limit",
          error="")
    overlaps = floats(6, 6, low=0, high=1)
    for limit in [0, 2, 9]:
        for least in [-INF, 0.5]:
            c.add("NonMaxSuppressionWithOverlaps", [overlaps, scores[:6], np.int32(limit),
                                                    np.float32(0.4), np.float32(least)])
    c.add("NonMaxSuppressionWithOverlaps", [floats(2, 3), scores[:2], three, np.float32(0.5),
                                            np.float32(0)], note="square", error="")


def combined(c):
    boxes, scores = floats(2, 6, 1, 4, low=0, high=1), floats(2, 6, 3, low=0, high=1)
    per_class = floats(2, 6, 3, 4, low=-0.5, high=1.5)
    half, none = np.float32(0.5), np.float32(0)
    for b in [boxes, per_class]:
        for pad in [False, True]:
            for clip in [False, True]:
                attrs = {"pad_per_class": pad, "clip_boxes": clip}
                for each, total in [(2, 5), (1, 9), (10, 100)]:
                    for least in [0.0, 0.6]:
                        c.add("CombinedNonMaxSuppression", [b, scores, np.int32(each),
                                                            np.int32(total), half,
                                                            np.float32(least)], attrs)
    attrs = [np.int32(2), np.int32(3), half, none]
    c.add("CombinedNonMaxSuppression", [boxes[:0], scores[:0]] + attrs, note="empty")
    c.add("CombinedNonMaxSuppression", [boxes[:, :0], scores[:, :0]] + attrs, note="no_boxes")
    c.add("CombinedNonMaxSuppression", [per_class[:, :, :2], scores] + attrs, note="classes",
          error="third dimension of boxes must be either 1 or num classes")
    c.add("CombinedNonMaxSuppression", [boxes, scores, np.int32(0), np.int32(3), half, none],
          note="each", error="max_size_per_class must be positive")
    c.add("CombinedNonMaxSuppression", [boxes, scores, np.int32(1), np.int32(0), half, none],
          note="total", error="max_total_size must be")
    c.add("CombinedNonMaxSuppression", [boxes, scores, np.int32(1), np.int32(1), np.float32(2),
                                        none], note="iou", error="iou_threshold must be in [0, 1]")


def crop_gradients(c):
    x = floats(2, 5, 6, 2)
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.3, 0.5, 1.4, 2],
                      [0.5, 0.5, 0.5, 0.5], [-1e6, 0, 1, 1], [0, 0, 1e6, 1]], np.float32)
    index = i32(0, 1, 1, 0, 1, 0, 1)
    for method in ["bilinear", "nearest"]:
        c.add("CropAndResizeGradImage", [floats(len(boxes), 3, 4, 2), boxes, index, i32(*x.shape)],
              {"T": tf.float32, "method": method}, note=method)
    c.add("CropAndResizeGradImage", [floats(len(boxes), 1, 2, 2), boxes, index, i32(*x.shape)],
          {"T": tf.float64}, note="double")
    for size in [(3, 4), (1, 3)]:
        c.add("CropAndResizeGradBoxes", [floats(5, *size, 2), x, boxes[:5], index[:5]], rtol=1e-4, atol=1e-4)


@family
def image(c):
    resizes(c)
    resize_gradients(c)
    scales(c)
    crops(c)
    transforms(c)
    colours(c)
    drawings(c)
    suppressions(c)
    combined(c)
    crop_gradients(c)
