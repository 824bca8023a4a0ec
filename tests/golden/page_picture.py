#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The picture of a page in README.md: its beginning as a browser shows it, down to an element.

usage: page_picture.py PAGE.html PICTURE.png ELEMENT-ID [dark]

The picture has the browser's fonts, so that two machines make two pictures: nothing compares them.
    SCREENS_UPDATE=1 make -C build/check check TESTS=tests/golden/test_browser.sh
"""
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import chromium  # noqa: E402

WIDTH, COLOURS, FREQUENT = 1180, 240, 150


def rows_of(png):
    """The rows of a picture of 8 bits a channel, as tuples of three bytes."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    step = {2: 3, 6: 4}[kind]
    at, packed = 8, b""
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        if name == b"IDAT":
            packed += png[at + 8:at + 8 + length]
        at += 12 + length
    data, before, at = zlib.decompress(packed), bytearray(width * step), 0
    for _ in range(height):
        method, line = data[at], bytearray(data[at + 1:at + 1 + width * step])
        at += 1 + width * step
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            corner = before[i - step] if i >= step else 0
            above = before[i]
            if method == 4:
                guess = left + above - corner
                near = min((abs(guess - left), 0, left), (abs(guess - above), 1, above),
                           (abs(guess - corner), 2, corner))[2]
            else:
                near = (0, left, above, (left + above) // 2)[method]
            line[i] = (line[i] + near) & 255
        before = line
        yield [bytes(line[i:i + 3]) for i in range(0, len(line), step)]


def distance(a, b):
    return sum((one - other) ** 2 for one, other in zip(a, b))


def palette_of(counts):
    """The most frequent colours, and those that are least like them: a legend has few pixels."""
    ranked = sorted(counts, key=lambda pixel: -counts[pixel])
    palette = ranked[:FREQUENT]
    away = {pixel: min(distance(pixel, one) for one in palette) for pixel in ranked[FREQUENT:]
            if counts[pixel] > 20}
    while away and len(palette) < COLOURS:
        palette.append(max(away, key=away.get))
        away.pop(palette[-1])
        away = {pixel: min(old, distance(pixel, palette[-1])) for pixel, old in away.items()}
    return palette


def small(png):
    """The same with few colours, and for the others the nearest of them."""
    rows = list(rows_of(png))
    counts = {}
    for row in rows:
        for pixel in row:
            counts[pixel] = counts.get(pixel, 0) + 1
    palette = palette_of(counts)
    nearest = {pixel: min(range(len(palette)), key=lambda i: distance(pixel, palette[i]))
               for pixel in counts}
    data = b"".join(b"\0" + bytes(nearest[pixel] for pixel in row) for row in rows)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + \
            struct.pack(">I", zlib.crc32(name + content))
    return b"\x89PNG\r\n\x1a\n" + \
        chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) + \
        chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")


def main():
    page, picture, last = sys.argv[1:4]
    with chromium.Browser(chromium.find(), width=WIDTH, is_dark="dark" in sys.argv) as browser:
        browser.open(page)
        height = browser.ask(f"document.getElementById('{last}').getBoundingClientRect().bottom")
        browser.shot(picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": height + 8}, whole=True)
    with open(picture, "rb") as file:
        made = small(file.read())
    with open(picture, "wb") as file:
        file.write(made)


if __name__ == "__main__":
    main()
