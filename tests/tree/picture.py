#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The picture in README.md: when the kernels of each rank's collectives ran, and how long each
waited for the last rank to come.

usage: picture.py <CALLS.JSONL >PICTURE.SVG, of what `ccltap timeline --format jsonl` prints.
"""
import json
import sys

WIDTH, LEFT, TOP, ROW, BAR = 860, 70, 44, 34, 22
WAITS, MOVES, TEXT = "#f2a65a", "#1f6f8b", "#777777"


def kernels(lines):
    """By operation and rank: when the kernel began and ended."""
    found = {}
    for line in lines:
        span = json.loads(line)
        if span["type"] == "span" and span["name"] == "kernel" and span["op_number"] and \
                span["comm_rank"] is not None:
            found.setdefault(span["op_number"], {})[span["comm_rank"]] = (
                span["begin_ns"], span["end_ns"])
    return found


def bar(x, y, width, colour):
    return f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.8):.1f}" height="{BAR}" ' \
           f'fill="{colour}"/>'


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{TEXT}">{words}</text>'


def draw(operations):
    ranks = 1 + max(rank for ends in operations.values() for rank in ends)
    first = min(begin for ends in operations.values() for begin, _ in ends.values())
    last = max(end for ends in operations.values() for _, end in ends.values())
    scale = (WIDTH - LEFT - 20) / (last - first)
    height = TOP + ranks * ROW + 40
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" ' \
          'font-family="sans-serif" font-size="13">'
    yield bar(LEFT, 8, BAR, WAITS) + text(LEFT + 30, 24, "waits in the kernel for the last rank")
    yield bar(LEFT + 300, 8, BAR, MOVES) + text(LEFT + 330, 24, "all ranks are there")
    for rank in range(ranks):
        yield text(LEFT - 12, TOP + rank * ROW + 17, f"rank {rank}", "end")
    for ends in operations.values():
        there = max(begin for begin, _ in ends.values())
        for rank, (begin, end) in sorted(ends.items()):
            x, y = LEFT + (begin - first) * scale, TOP + rank * ROW
            middle = min(there, end)
            if middle > begin:
                yield bar(x, y, (middle - begin) * scale, WAITS)
            yield bar(x + (middle - begin) * scale, y, (end - middle) * scale, MOVES)
    for tick in range(int((last - first) / 500e6) + 1):
        x = round(LEFT + tick * 500e6 * scale)
        yield text(x, height - 16, f"{tick * 0.5:.1f} s", "middle")
    yield "</svg>"


def main():
    for line in draw(kernels(sys.stdin)):
        print(line)


if __name__ == "__main__":
    main()
