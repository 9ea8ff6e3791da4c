# SPDX-License-Identifier: Apache-2.0
import struct

from op_cases.framework import *


def wav(samples, channels=1, rate=8000, before=b""):
    data = struct.pack(f"<{len(samples)}h", *samples)
    head = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + head + before
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def wavs(c):
    samples = [0, 1, -1, 32767, -32768, 1000, -1000, 77]
    for channels in [1, 2, 4]:
        file = wav(samples, channels)
        c.add("DecodeWav", [file], note=f"{channels}ch")
        for wanted in [0, 1, 2, 5]:
            c.add("DecodeWav", [file], {"desired_channels": wanted}, note=f"{channels}ch")
        for wanted in [0, 1, 12]:
            c.add("DecodeWav", [file], {"desired_samples": wanted}, note=f"{channels}ch")
    good = wav(samples, 2)
    c.add("DecodeWav", [wav(samples, before=b"LIST" + struct.pack("<I", 4) + b"abcd")], note="list")
    c.add("DecodeWav", [wav([])], note="empty")
    for name, file, error in [
            ("nothing", b"", "Data too short when trying to read string"),
            ("short", good[:-3], "Data too short when trying to read string"),
            ("head", good[:36], "No data chunk found in WAV"),
            ("kind", b"RIFX" + good[4:], "Header mismatch: Expected RIFF"),
            ("format", good[:20] + b"\3" + good[21:], "Expected 1 (PCM), but got3"),
            ("bits", good[:34] + b"\x08" + good[35:], "Can only read 16-bit WAV files, but "
             "received 8"),
            ("frame", good[:22] + b"\x03" + good[23:],
             "Bad bytes per sample in WAV header: Expected 6 but got 4"),
            ("channels", good[:22] + b"\x00" + good[23:],
             "Bad number of channels for WAV: Expected at least 1, but got 0")]:
        c.add("DecodeWav", [file], note=name, error=error)
    c.add("DecodeWav", [np.array([good], object)], note="rank",
          error="contents must be scalar, got shape [1]")
    c.add("DecodeWav", [good], {"desired_channels": -2}, note="attr",
          error="desired_channels must be >= -1, got -2")
    c.add("DecodeWav", [good], {"desired_samples": -2}, note="attr",
          error="desired_samples must be >= -1, got -2")
    for channels in [1, 2, 3]:
        c.add("EncodeWav", [floats(5, channels, low=-1, high=1), np.int32(16000)])
    c.add("EncodeWav", [np.array([[1.0, -1.0], [2.0, -2.0], [INF, -INF], [0.5 / 32768, 1.5 / 32768],
                                  [-0.5 / 32768, -1.5 / 32768], [2.5 / 32767, 0.99999]],
                                 np.float32), np.int32(1)], note="limits")
    c.add("EncodeWav", [floats(0, 2), np.int32(8000)], note="empty")
    c.add("EncodeWav", [floats(2, 0), np.int32(8000)], note="no_channels",
          error="num_channels must be in (0, 2^")
    c.add("EncodeWav", [floats(2, 1), np.int32(0)], note="rate",
          error="sample_rate must be in (0, 2^32), got: 0")
    c.add("EncodeWav", [floats(2), np.int32(8)], note="rank",
          error="audio must be 2-dimensional[2]")
    c.add("EncodeWav", [floats(2, 1), i32(8)], note="rate_rank",
          error="Input sample_rate should be a scalar tensor, got [1] instead.")


def spectrograms(c):
    for window, stride in [(2, 1), (3, 2), (8, 4), (10, 3), (16, 16)]:
        for squared in [False, True]:
            attrs = {"window_size": window, "stride": stride, "magnitude_squared": squared}
            for channels in [1, 2]:
                c.add("AudioSpectrogram", [floats(30, channels)], attrs, note=f"{window}_{stride}",
                      atol=2e-5)
    attrs = {"window_size": 8, "stride": 2}
    c.add("AudioSpectrogram", [floats(5, 1)], attrs, note="short")
    c.add("AudioSpectrogram", [floats(50, 0)], attrs, note="no_channels")
    c.add("AudioSpectrogram", [floats(0, 2)], attrs, note="empty")
    c.add("AudioSpectrogram", [floats(8)], attrs, note="rank",
          error="input must be 2-dimensional[8]")
    for window, stride in [(1, 1), (4, 0)]:
        c.add("AudioSpectrogram", [floats(8, 1)], {"window_size": window, "stride": stride},
              note="attr", error="Spectrogram initialization failed for window size")


    # Which ends TensorFlow's process.
    c.add("AudioSpectrogram", [floats(8, 1)], {"window_size": -3, "stride": 1}, note="negative",
          expect=[], error="Spectrogram initialization failed for window size -3")


def cepstra(c):
    for bins, rate in [(129, 8000), (65, 16000), (9, 8000), (257, 44100), (33, 4000)]:
        x = floats(2, 2, bins, low=0, high=9)
        c.add("Mfcc", [x, np.int32(rate)], note=f"{bins}_{rate}", atol=2e-5)
    attrs = {"upper_frequency_limit": 3000.0, "lower_frequency_limit": 100.0,
             "filterbank_channel_count": 20, "dct_coefficient_count": 20}
    x = floats(1, 3, 129, low=0, high=4)
    c.add("Mfcc", [x, np.int32(8000)], attrs, note="attrs", atol=2e-5)
    c.add("Mfcc", [0 * x, np.int32(8000)], note="zeros")
    c.add("Mfcc", [x[:, :0], np.int32(8000)], note="empty")
    c.add("Mfcc", [x[0], np.int32(8000)], note="rank",
          error="spectrogram must be 3-dimensional[3,129]")
    c.add("Mfcc", [x, i32(8000)], note="rate_rank",
          error="Input sample_rate should be a scalar tensor, got [1] instead.")
    for name, rate, attrs in [("rate", -1, {}), ("filters", 8000, {"filterbank_channel_count": 0}),
                              ("coefficients", 8000, {"dct_coefficient_count": 0}),
                              ("more", 8000, {"dct_coefficient_count": 41}),
                              ("limits", 8000, {"lower_frequency_limit": 5000.0}),
                              ("low", 8000, {"lower_frequency_limit": -1.0})]:
        c.add("Mfcc", [x, np.int32(rate)], attrs, note=name, error="Mfcc initialization failed for")
    for bins in [0, 1]:
        c.add("Mfcc", [x[:, :, :bins], np.int32(8000)], note="bins",
              error="Mfcc initialization failed for")


@family
def audio(c):
    wavs(c)
    spectrograms(c)
    cepstra(c)
