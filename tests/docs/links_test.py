#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links from one page to another file of the project lead somewhere, and every page of docs/ can be
reached from docs/README.md."""
import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
pages = glob.glob(os.path.join(root, "*.md")) + glob.glob(os.path.join(root, "docs", "**", "*.md"),
                                                          recursive=True)
problems = []
targets = {}
for page in pages:
    with open(page) as f:
        text = re.sub(r"```.*?```", "", f.read(), flags=re.DOTALL)
        text = re.sub(r"^    .*$|`[^`\n]*`", "", text, flags=re.MULTILINE)
    targets[page] = set()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|#", link):
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(page), link.split("#")[0]))
        targets[page].add(target)
        if not os.path.exists(target):
            problems.append(f"{os.path.relpath(page, root)} links to {link}, which is not there")

index = os.path.join(root, "docs", "README.md")
for page in pages:
    inside = page.startswith(os.path.join(root, "docs") + os.sep)
    if inside and page != index and page not in targets[index]:
        problems.append(f"docs/README.md does not link to {os.path.relpath(page, root)}")
print("\n".join(problems) or f"{len(pages)} pages, all links lead somewhere")
sys.exit(1 if problems else 0)
