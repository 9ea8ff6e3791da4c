# SPDX-License-Identifier: Apache-2.0
"""Image files: made with Pillow where TensorFlow itself does not write the format."""
import io
import struct
import zlib

from PIL import Image

from op_cases.framework import *

U8, U16 = np.uint8, np.uint16


def pixels(*shape, dtype=U8):
    return RNG.randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def smooth(height, width, channels=3):
    """A picture whose JPEG is not noise."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = [127 + 120 * np.sin(x / (3 + c) + y / (5 - c) + c) for c in range(channels)]
    return np.stack(planes, -1).astype(U8)


def pillow(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, depth, colour, lines, interlace=0, before=b""):
    """A PNG of lines as they are stored, each with its filter's byte."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def bmp(width, height, bits, data, start=54):
    return b"BM" + struct.pack("<IHHIIiiHHIIIIII", 0, 0, 0, start, 40, width, height, 1, bits, 0,
                               0, 0, 0, 0, 0) + data


def pngs(c):
    files = {}
    for channels in [1, 2, 3, 4]:
        for dtype in [U8, U16]:
            files[f"{channels}ch_{tf.as_dtype(dtype).name}"] = raw.EncodePng(
                image=pixels(4, 5, channels, dtype=dtype)).numpy()
    palette = chunk(b"PLTE", bytes(range(30, 30 + 12)))
    lines = b"".join(b"\0" + bytes([b]) for b in [0b00011011, 0b11100100, 0b01010101])
    files["palette"] = png(4, 3, 2, 3, lines, before=palette)
    files["palette_alpha"] = png(4, 3, 2, 3, lines, before=palette + chunk(b"tRNS", b"\0\x80"))
    files["grey1"] = png(8, 3, 1, 0, lines)
    files["grey2_key"] = png(4, 3, 2, 0, lines, before=chunk(b"tRNS", b"\0\1"))
    files["rgb_key"] = png(2, 1, 8, 2, b"\0\1\2\3\4\5\6", before=chunk(b"tRNS", b"\0\1\0\2\0\3"))
    widths = [1, 1, 2, 2, 2, 4, 4]  # of the lines of all passes that a square of 4 has
    passes = b"".join(b"\0" + pixels(n, 3).tobytes() for n in widths)
    files["interlaced"] = png(4, 4, 8, 2, passes, interlace=1)
    for name, file in files.items():
        for channels in [0, 1, 3, 4]:
            for dtype in [U8, U16]:
                c.add("DecodePng", [file], {"channels": channels, "dtype": dtype}, note=name)
        c.add("DecodeImage", [file], {"dtype": np.float32}, note=name)
    good = files["3ch_uint8"]
    c.add("DecodePng", [good[:60]], note="short", error="Invalid PNG data, size 60")
    c.add("DecodePng", [good[:50] + b"\x55" + good[51:]], note="damaged", error="Invalid PNG data")
    c.add("DecodePng", [good[:16] + struct.pack(">II", 1 << 28, 1 << 28) + good[24:]], note="huge",
          error="Invalid PNG")
    for op in ["DecodeImage", "DecodeJpeg", "DecodePng"]:
        c.add(op, [good], note="is_png")
    c.add("DecodeGif", [good], note="is_png")
    c.add("DecodeGif", [files["4ch_uint16"]], note="is_png")
    for channels in [1, 2, 3, 4]:
        for dtype in [U8, U16]:
            c.add("EncodePng", [pixels(3, 4, channels, dtype=dtype)], note=f"{channels}ch")
    for level in [0, 1, 6, 9]:
        c.add("EncodePng", [smooth(9, 11)], {"compression": level}, note="level")
    c.add("EncodePng", [pixels(2, 2, 2, 2, 1)], note="batch")
    c.add("EncodePng", [pixels(0, 2, 2, 1)], note="no_images")
    c.add("EncodePng", [pixels(2, 3)], note="rank", error="images must be at least rank 3[2,3]")
    c.add("EncodePng", [pixels(2, 3, 5)], note="5ch",
          error="image must have 1, 2, 3, or 4 channels, got 5")
    for level in [-2, 10]:
        c.add("EncodePng", [pixels(2, 3, 1)], {"compression": level}, note="bad_level",
              error=f"compression should be in [-1,9], got {level}")


def decode_jpegs(c):
    image = smooth(21, 18)
    files = {
        "rgb": raw.EncodeJpeg(image=image).numpy(),
        "grey": raw.EncodeJpeg(image=image[:, :, :1]).numpy(),
        "full_chroma": raw.EncodeJpeg(image=image, chroma_downsampling=False).numpy(),
        "progressive": raw.EncodeJpeg(image=image, progressive=True, quality=60).numpy(),
        "cmyk": pillow(Image.fromarray(smooth(10, 9, 4), "CMYK"), "JPEG"),
        "one_pixel": raw.EncodeJpeg(image=image[:1, :1]).numpy(),
    }
    for name, file in files.items():
        for channels in [0, 1, 3]:
            if name == "cmyk" and channels == 1:
                continue  # libjpeg cannot, and what TensorFlow makes of it is not defined
            c.add("DecodeJpeg", [file], {"channels": channels}, note=name)
        for ratio in [2, 4, 8]:
            c.add("DecodeJpeg", [file], {"ratio": ratio}, note=name)
        c.add("DecodeJpeg", [file], {"fancy_upscaling": False}, note=name + "_plain")
        for method in ["INTEGER_FAST", "INTEGER_ACCURATE"]:
            c.add("DecodeJpeg", [file], {"dct_method": method}, note=f"{name}_{method}")
        for dtype in [U8, U16, np.float32]:
            c.add("DecodeImage", [file], {"dtype": dtype}, note=name)
        c.add("DecodePng", [file], {"dtype": U16}, note=name + "_jpeg")
        for dtype in [np.int32, np.int64]:
            c.add("ExtractJpegShape", [file], {"output_type": dtype}, note=name)
    good = files["rgb"]
    c.add("DecodeGif", [files["grey"]], note="is_jpeg")
    for window in [(0, 0, 21, 18), (3, 5, 7, 4), (20, 17, 1, 1), (8, 8, 8, 8)]:
        for attrs in [{}, {"channels": 1}, {"fancy_upscaling": False}]:
            c.add("DecodeAndCropJpeg", [good, i32(*window)], attrs, note="window")
    c.add("DecodeAndCropJpeg", [good, i32(1, 2, 5, 3)], {"ratio": 2}, note="ratio")
    for window in [(0, 0, 22, 1), (0, 1, 1, 18), (-1, 0, 2, 2), (0, 0, 0, 2)]:
        c.add("DecodeAndCropJpeg", [good, i32(*window)], note="outside", error="crop window")
    # TensorFlow adds the two up and ends its process.
    c.add("DecodeAndCropJpeg", [good, i32(2**31 - 1, 0, 9, 9)], note="far", expect=[],
          error="crop window")
    c.add("DecodeAndCropJpeg", [good, i32(0, 0, 1)], note="three",
          error="crop_size must have four elements [3]")
    c.add("DecodeAndCropJpeg", [good, i32(0, 0, 1, 1).reshape(1, 4)], note="rank",
          error="crop_window must be 1-D, got shape [1,4]")
    short = files["full_chroma"][:-150]
    c.add("DecodeJpeg", [short], note="short", error="Invalid JPEG data")
    # In the block in which a file ends, versions of libjpeg differ: none of it is there.
    bare = good[:good.index(b"\xff\xda") + 14]
    c.add("DecodeJpeg", [bare], note="bare", error="Invalid JPEG data")
    for fraction in [0.0, 1.0]:
        c.add("DecodeJpeg", [bare], {"try_recover_truncated": True,
                                     "acceptable_fraction": fraction}, note="recovered")
    for at, damage in [(-300, b"\0\x11\0"), (-200, b"\xff\xd9"), (-250, b"\x55\x44\x55")]:
        file = good[:at] + damage + good[at + len(damage):]
        c.add("DecodeJpeg", [file], note="damaged")
        c.add("DecodeJpeg", [file], {"try_recover_truncated": True}, note="damaged")
    c.add("DecodeJpeg", [good[:-2]], note="no_end", error="Invalid JPEG data")
    c.add("DecodeAndCropJpeg", [short, i32(0, 0, 1, 1)], note="short")
    c.add("DecodeJpeg", [good[:30]], note="header", error="Invalid JPEG data")
    c.add("DecodeJpeg", [good], {"ratio": 3}, note="ratio", error="ratio must be 1, 2, 4, or 8")
    c.add("DecodeJpeg", [good], {"channels": 4}, note="4ch",
          error="JPEG does not support 4 channels")
    c.add("DecodeJpeg", [good], {"dct_method": "x"}, note="method",
          error="dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    c.add("ExtractJpegShape", [b"\x89PNG"], note="png", error="Invalid JPEG data, size 4")
    c.add("ExtractJpegShape", [np.array([good], object)], note="rank",
          error="contents must be scalar, got shape [1]")


def encode_jpegs(c):
    image = smooth(21, 18)
    for attrs in [{}, {"quality": 0}, {"quality": 50}, {"quality": 100}, {"progressive": True},
                  {"optimize_size": True}, {"chroma_downsampling": False},
                  {"density_unit": "cm", "x_density": 7, "y_density": 9},
                  {"xmp_metadata": "<x>metadata</x>"}, {"format": "rgb"}]:
        c.add("EncodeJpeg", [image], attrs, note="rgb")
    for attrs in [{}, {"format": "grayscale"}, {"progressive": True}]:
        c.add("EncodeJpeg", [image[:, :, :1]], attrs, note="grey")
    for quality in [0, 95, 100]:
        c.add("EncodeJpegVariableQuality", [image, np.int32(quality)], note="quality")
    c.add("EncodeJpegVariableQuality", [image[:, :, :1], np.int32(30)], note="grey")
    for quality in [-1, 101]:
        c.add("EncodeJpeg", [image], {"quality": quality}, note="bad_quality",
              error=f"quality must be in [0,100], got {quality}")
        c.add("EncodeJpegVariableQuality", [image, np.int32(quality)], note="bad_quality",
              error=f"quality must be in [0,100], got {quality}")
    c.add("EncodeJpegVariableQuality", [image, i32(1)], note="rank",
          error="quality must be scalar: [1]")
    c.add("EncodeJpeg", [image[0]], note="rank", error="image must be 3-dimensional[18,3]")
    c.add("EncodeJpeg", [image[:, :, :2]], note="2ch",
          error="image must have 1 or 3 channels, got [21,18,2]")
    c.add("EncodeJpeg", [image], {"format": "grayscale"}, note="format",
          error="format grayscale expects 1 channels, got [21,18,3]")


def gifs(c):
    frames = [Image.fromarray(pixels(5, 6, 3)).quantize(16) for _ in range(3)]
    still = pillow(frames[0], "GIF")
    moving = pillow(frames[0], "GIF", save_all=True, append_images=frames[1:])
    interlaced = pillow(Image.fromarray(pixels(9, 4, 3)).quantize(8), "GIF", interlace=1)
    part = pillow(frames[0], "GIF", save_all=True, disposal=1, append_images=[
        Image.fromarray(np.array(frames[0].convert("RGB")) // np.array([[[1]]] * 2 + [[[2]]] * 3,
                                                                       U8)).quantize(16)])
    for name, file in {"still": still, "moving": moving, "interlaced": interlaced,
                       "part": part}.items():
        c.add("DecodeGif", [file], note=name)
        for dtype in [U8, U16, np.float32]:
            c.add("DecodeImage", [file], {"dtype": dtype}, note=name)
        c.add("DecodeImage", [file], {"expand_animations": False, "channels": 3}, note=name)
    c.add("DecodePng", [still], note="is_gif")
    c.add("DecodeJpeg", [still], {"channels": 3}, note="is_gif")
    c.add("DecodePng", [moving], note="is_gif", error="Got 3 frames, but animated gifs can only be")
    c.add("DecodeGif", [moving[:-10]], note="short")
    c.add("DecodeGif", [still[:-20]], note="short", error="Invalid GIF data")
    c.add("DecodeGif", [still[:30]], note="header", error="Invalid GIF data")
    c.add("DecodeImage", [still], {"channels": 1}, note="1ch",
          error="channels must be 0 or 3 for GIF, got 1")


def bmps(c):
    files = {
        "grey": bmp(3, 2, 8, bytes([1, 2, 3, 0, 4, 5, 6, 0])),
        "rgb": bmp(2, 2, 24, bytes(range(16))),
        "rgba": bmp(2, 2, 32, bytes(range(16))),
        "top_down": bmp(1, -3, 24, bytes(range(12))),
        "far": bmp(1, 1, 24, bytes(range(10)), start=60),
    }
    for name, file in files.items():
        for channels in [0, 3, 4]:
            c.add("DecodeBmp", [file], {"channels": channels}, note=name)
        if name == "top_down":
            continue  # of which TensorFlow makes bytes alone: other types end its process
        c.add("DecodeImage", [file], {"dtype": np.float32}, note=name)
        c.add("DecodeImage", [file], {"dtype": U16, "channels": 3}, note=name)
    good = files["rgb"]
    for op in ["DecodePng", "DecodeJpeg", "DecodeGif"]:
        c.add(op, [good], note="is_bmp", error="Trying to decode BMP format using a wrong op. Use "
              "`decode_bmp` or `decode_image` instead. Op used: " + op)
    c.add("DecodeBmp", [good], {"channels": 1}, note="1ch", error="must be 0, 3 or 4 for BMP")
    c.add("DecodeBmp", [good[:-1]], note="short", error="but they differ by -1")
    c.add("DecodeBmp", [good + b"x"], note="long", error="but they differ by 1")
    c.add("DecodeBmp", [good[:20]], note="header",
          error="Incomplete bmp content, requires at least 32 bytes")
    c.add("DecodeBmp", [bmp(0, 1, 24, b"")], note="width", error="Width must be positive")
    c.add("DecodeBmp", [bmp(1 << 30, 1 << 20, 24, b"")], note="huge", error="")
    c.add("DecodeBmp", [bmp(1, -2**31, 24, b"")], note="huge", error="")
    c.add("DecodeBmp", [bmp(1, 1, 16, b"0000")], note="bits",
          error="Number of channels inherent in the image must be 1, 3 or 4, was 2")
    c.add("DecodeBmp", [bmp(1, 1, 24, b"0000", start=2**32 - 1)], note="start",
          error="header size must be nonnegative")


@family
def image_files(c):
    pngs(c)
    decode_jpegs(c)
    encode_jpegs(c)
    gifs(c)
    bmps(c)
    small = raw.EncodePng(image=pixels(1, 1, 1)).numpy()
    for op in ["DecodeImage", "DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp"]:
        c.add(op, [b""], note="nothing", error="Input is empty.")
        c.add(op, [b"no image is this text"], note="text", error="Unknown image file format.")
        c.add(op, [np.array([small], object)], note="rank",
              error="`contents` must be scalar but got shape[1]")
        if op != "DecodeGif":
            c.add(op, [small], {"channels": 2}, note="2ch",
                  error="`channels` must be 0, 1, 3 or 4 but got 2")
    c.add("DecodeBmp", [small], note="is_png", error="Trying to decode PNG format using DecodeBmp "
          "op. Use `decode_png` or `decode_image` instead.")
    c.add("DecodeAndCropJpeg", [small, i32(0, 0, 1, 1)], note="is_png",
          error="DecodeAndCropJpeg operation can run on JPEG only, but detected PNG.")
