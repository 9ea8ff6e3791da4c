#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the walls between the parts of src/ against src/LAYERS.

Fails, with one line "FILE:LINE: message" a finding, on
  - an #include of a part that LAYERS does not allow, and on a cycle in LAYERS itself;
  - DEPS of a slipway_add_part() that differ from LAYERS;
  - a heavy third-party header in a header of src/ or include/: it belongs into a source file;
  - a header of include/slipway that includes anything but the standard library and slipway/...;
  - a source file over 1000 lines (over 500 is a warning).

Usage: check_layers.py [ROOT]
"""
import os
import re
import sys

MAX_LINES = 1000
WARN_LINES = 500
HEAVY = re.compile(
    r"nghttp2/|boost/beast|oneapi/dnnl/|dnnl|google/protobuf/|.*\.pb\.h$|grpc|"
    r"nlohmann/json\.hpp|yaml-cpp/|spdlog/")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
ADD_PART = re.compile(r"slipway_add_part\(([^)]*)\)")
KEYWORDS = {"DEPS", "EXCLUDE", "LIBS", "TEST_LIBS"}
SKIPPED_FOLDERS = {"build", "third_party"}
PUBLIC = "include/slipway/"


class Layers:
    """src/LAYERS: who may use whom (edges) and who owns which public header (owners)."""

    def __init__(self, text):
        self.edges = {}
        self.owners = {}
        self.errors = []
        lines = {}
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.split("#", 1)[0].strip()
            if line:
                self._parse(line, number, lines)
        for part, uses in self.edges.items():
            for used in uses:
                if used not in self.edges:
                    self._error(lines[part], f"part '{part}' may use '{used}', which has no line")
        for header, owner in self.owners.items():
            if owner not in self.edges:
                self._error(lines[header], f"'{header}' belongs to '{owner}', which has no line")
        self.closure = {}
        for part in self.edges:
            self._close(part, [], lines)

    def _error(self, line, message):
        finding = f"src/LAYERS:{line}: {message}"
        if finding not in self.errors:
            self.errors.append(finding)

    def _parse(self, line, number, lines):
        name, colon, rest = line.partition(":")
        words = rest.split()
        public = re.fullmatch(r"public ([a-z0-9_/]+\.h)", name)
        if public and len(words) == 1:
            key, table, value = public.group(1), self.owners, words[0]
        elif colon and re.fullmatch(r"[a-z][a-z0-9_]*", name):
            key, table, value = name, self.edges, set(words)
        else:
            self._error(number, f"'{line}' is neither 'part: parts' nor 'public NAME.h: part'")
            return
        if key in table:
            self._error(number, f"'{key}' has a second line")
        table[key] = value
        lines[key] = number

    def _close(self, part, path, lines):
        if part in path:
            cycle = path[path.index(part):] + [part]
            if part == min(cycle):
                self._error(lines[part], "a cycle: " + " -> ".join(cycle))
            return set()
        if part in self.closure:
            return self.closure[part]
        found = {part}
        for used in sorted(self.edges.get(part, ())):
            found |= self._close(used, path + [part], lines)
        if not path:
            self.closure[part] = found
        return found

    def may_use(self, part, other):
        return other in self.closure.get(part, {part})

    def owner(self, public_header):
        return self.owners.get(public_header, "api")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files_below(root, folder, endings):
    for place, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and f[0] != ".")
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(place, name), root)


def part_of(file, layers):
    """The part that a file of src/ or include/slipway belongs to, or None."""
    if file.startswith(PUBLIC):
        return layers.owner(file[len(PUBLIC):])
    pieces = file.split("/")
    return pieces[1] if len(pieces) > 2 else None


def check_include(root, file, quote, target, layers):
    """The messages that one #include deserves."""
    header = file.endswith(".h") and not file.endswith("_testing.h")  # those only tests include
    if header and HEAVY.match(target):
        yield f"'{target}' in a header; include it in a source file only"
    elif file.startswith(PUBLIC):
        standard = quote == "<" and re.fullmatch(r"[a-z0-9_]+|std(def|int)\.h", target)
        if not standard and not (quote == '"' and target.startswith("slipway/")):
            yield f"'{target}' in a public header; only the standard library and slipway/... may be"
    part = part_of(file, layers)
    if part is None or quote == "<":
        return
    first, slash, rest = target.partition("/")
    if first == "slipway" and slash:
        used = layers.owner(rest)
    elif first in layers.edges and slash:
        used = first
    else:
        if os.path.exists(os.path.join(root, os.path.dirname(file), target)):
            yield f"'{target}' is relative; write the path from src/"
        return
    if not layers.may_use(part, used):
        allowed = ", ".join(sorted(layers.closure.get(part, {part}) - {part})) or "nothing"
        yield f"'{target}' is of '{used}', which '{part}' may not use; it may use {allowed}"


def check_sources(root, layers):
    errors = []
    for folder in ("src", "include"):
        for file in files_below(root, folder, (".h", ".cc")):
            for number, line in enumerate(read(os.path.join(root, file)).splitlines(), 1):
                match = INCLUDE.match(line)
                if match:
                    errors += [f"{file}:{number}: {message}" for message in
                               check_include(root, file, *match.groups(), layers)]
    return errors


def check_parts(root, layers):
    """Each folder of src/ has a line, and its CMakeLists.txt links what the line says."""
    errors = []
    for part in sorted(os.listdir(os.path.join(root, "src"))):
        if not os.path.isdir(os.path.join(root, "src", part)):
            continue
        if part not in layers.edges:
            errors.append(f"src/{part}:1: the part has no line in src/LAYERS")
            continue
        cmake = f"src/{part}/CMakeLists.txt"
        if not os.path.exists(os.path.join(root, cmake)):
            continue
        text = re.sub(r"#[^\n]*", "", read(os.path.join(root, cmake)))
        for call in ADD_PART.finditer(text):
            number = text.count("\n", 0, call.start()) + 1
            errors += [f"{cmake}:{number}: {message}" for message in
                       check_deps(part, call.group(1).split(), layers)]
    return errors


def check_deps(part, words, layers):
    if words[:1] != [part]:
        yield f"slipway_add_part({' '.join(words[:1])}) in the folder of '{part}'"
        return
    deps, keyword = set(), ""
    for word in words[1:]:
        if word in KEYWORDS:
            keyword = word
        elif keyword == "DEPS":
            deps.add(word)
    if deps != layers.edges[part]:
        yield (f"DEPS are '{' '.join(sorted(deps))}', src/LAYERS says "
               f"'{' '.join(sorted(layers.edges[part]))}'")


def check_sizes(root):
    errors, warnings = [], []
    for folder in ("src", "include", "tests", "examples", "bench", "fuzz", "tools"):
        for file in files_below(root, folder, (".h", ".cc", ".py", ".proto")):
            lines = read(os.path.join(root, file)).count("\n")
            if lines > MAX_LINES:
                errors.append(f"{file}:{MAX_LINES}: {lines} lines; at most {MAX_LINES} are "
                              "allowed: split it by family or by job")
            elif lines > WARN_LINES:
                warnings.append(f"{file}:{WARN_LINES}: warning: {lines} lines")
    return errors, warnings


def check(root):
    """(errors, warnings) of the tree at root."""
    layers = Layers(read(os.path.join(root, "src/LAYERS")))
    size_errors, warnings = check_sizes(root)
    errors = layers.errors + check_parts(root, layers) + check_sources(root, layers) + size_errors
    return errors, warnings


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    errors, warnings = check(os.path.abspath(root))
    print("\n".join(warnings + errors + [f"check_layers: {len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
