#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests check_layers.py on small trees that break one rule each."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_layers  # noqa: E402

GOOD = {
    "src/LAYERS": "# comment\nbase:\ntensor: base\nir: tensor\nexec: ir\nproto:\napi: exec\n"
                  "public status.h: base\npublic tensor.h: tensor\n",
    "src/base/CMakeLists.txt": "slipway_add_part(base LIBS fmt::fmt)\n",
    "src/base/a.h": "#include <string>\n#include \"slipway/status.h\"\n",
    "src/base/a.cc": "#include \"base/a.h\"\n#include <spdlog/spdlog.h>\n",
    "src/tensor/CMakeLists.txt": "# c)\nslipway_add_part(tensor\n  DEPS base\n  LIBS Foo::foo EXCLUDE \"/x/\")\n",
    "src/ir/b.cc": "#include \"base/a.h\"  // by way of tensor\n#include \"hwy/highway.h\"\n",
    "include/slipway/status.h": "#include <string_view>\n",
    "include/slipway/tensor.h": "#include \"slipway/status.h\"\n",
}


def findings(changes):
    """Errors and warnings for GOOD with these files added or replaced."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**GOOD, **changes}.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return check_layers.check(root)


class CheckLayersTest(unittest.TestCase):
    def assert_error(self, changes, *words):
        errors, _ = findings(changes)
        self.assertEqual(len(errors), 1, errors)
        for word in words:
            self.assertIn(word, errors[0])

    def test_good_tree(self):
        self.assertEqual(findings({}), ([], []))

    def test_edge_upwards(self):
        self.assert_error({"src/base/c.cc": "\n#include \"ir/b.h\"\n"},
                          "src/base/c.cc:2:", "'ir'", "may use nothing")

    def test_edge_upwards_through_a_public_header(self):
        self.assert_error({"src/base/c.cc": "#include \"slipway/tensor.h\"\n"}, "'tensor'")
        self.assert_error({"src/ir/c.cc": "#include \"slipway/slipway.h\"\n"}, "of 'api'")
        self.assert_error({"include/slipway/status.h": "#include \"slipway/tensor.h\"\n"},
                          "include/slipway/status.h:1:", "'tensor'")

    def test_edge_sideways(self):
        self.assert_error({"src/ir/c_test.cc": "#include \"proto/graph.pb.h\"\n"}, "'proto'")

    def test_cycle(self):
        self.assert_error({"src/LAYERS": GOOD["src/LAYERS"].replace("base:", "base: zoo") +
                           "zoo: base\n",
                           "src/base/CMakeLists.txt": "slipway_add_part(base DEPS zoo)\n"},
                          "src/LAYERS:2:", "base -> zoo -> base")

    def test_layers_syntax(self):
        self.assert_error({"src/LAYERS": GOOD["src/LAYERS"] + "nonsense\n"}, "src/LAYERS:10:")
        self.assert_error({"src/LAYERS": GOOD["src/LAYERS"] + "x: missing\n"}, "'missing'")
        self.assert_error({"src/LAYERS": GOOD["src/LAYERS"] + "proto:\n"}, "second line")

    def test_part_without_a_line(self):
        self.assert_error({"src/stray/x.cc": ""}, "src/stray", "no line")

    def test_heavy_headers(self):
        for heavy in ("<nghttp2/nghttp2.h>", "<boost/beast/http.hpp>", "<oneapi/dnnl/dnnl.hpp>",
                      "<dnnl.hpp>", "<google/protobuf/message.h>", "<grpcpp/grpcpp.h>",
                      "<nlohmann/json.hpp>", "<yaml-cpp/yaml.h>", "<spdlog/spdlog.h>"):
            self.assert_error({"src/ir/c.h": f"#include {heavy}\n"}, "in a header")
            self.assert_error({"include/slipway/x.h": f"#include {heavy}\n"}, "in a header")
        self.assertEqual(findings({"src/ir/c.h": "#include <nlohmann/json_fwd.hpp>\n"}), ([], []))
        errors, _ = findings({"src/ir/c.h": "#include \"proto/graph.pb.h\"\n"})
        self.assertIn("in a header", errors[0])

    def test_public_headers_are_self_contained(self):
        self.assert_error({"include/slipway/x.h": "#include <fmt/core.h>\n"}, "public header")
        errors, _ = findings({"include/slipway/x.h": "#include \"base/a.h\"\n"})
        self.assertIn("public header", errors[0])

    def test_relative_include(self):
        self.assert_error({"src/base/c.cc": "#include \"a.h\"\n"}, "relative")

    def test_deps(self):
        self.assert_error({"src/tensor/CMakeLists.txt": "slipway_add_part(tensor LIBS base)\n"},
                          "src/tensor/CMakeLists.txt:1:", "DEPS are ''", "'base'")
        self.assert_error({"src/base/CMakeLists.txt": "\nslipway_add_part(base DEPS tensor)\n"},
                          "src/base/CMakeLists.txt:2:")
        self.assert_error({"src/base/CMakeLists.txt": "slipway_add_part(bass)\n"}, "bass")

    def test_sizes(self):
        self.assert_error({"src/base/c.cc": "\n" * 1001}, "1001 lines")
        errors, warnings = findings({"src/base/c.cc": "\n" * 501})
        self.assertEqual((errors, len(warnings)), ([], 1))


if __name__ == "__main__":
    unittest.main()
