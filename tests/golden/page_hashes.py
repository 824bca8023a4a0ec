#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The hashes in the content security policy of the page's template are those of its own script and
style: the browser runs nothing else.

usage: page_hashes.py FOLDER [--write]: fails where a hash is another; or puts them there.
"""
import base64
import hashlib
import pathlib
import re
import sys


def assemble(folder):
    """The template with its files in it, as the tool does it."""
    def insert(match):
        name = match[1]
        return (folder / name).read_text() if "." in name else match[0]
    return re.sub(r"^%%([^%\n]+)%%\n", insert, (folder / "page.html").read_text(),
                  flags=re.MULTILINE)


def hashes(page):
    def digest(text):
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(script) == len(style) == 1, "the page has one script and one style"
    return {"script": digest(script[0]), "style": digest(style[0])}


def main():
    folder = pathlib.Path(sys.argv[1])
    template = folder / "page.html"
    text = template.read_text()
    wanted = text
    for kind, digest in hashes(assemble(folder)).items():
        wanted = re.sub(rf"{kind}-src 'sha256-[^']*'", f"{kind}-src 'sha256-{digest}'", wanted)
    if "--write" in sys.argv:
        template.write_text(wanted)
    elif wanted != text:
        sys.exit("the policy in page.html has other hashes: " + sys.argv[0] + " FOLDER --write")


if __name__ == "__main__":
    main()
