#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A copy of a shared library (ELF, 64 bits) that no longer defines a symbol.

usage: without.py LIBRARY SYMBOL COPY
"""

import struct
import sys

DT_STRTAB, DT_SYMTAB = 5, 6
PT_LOAD, PT_DYNAMIC = 1, 2
SYMBOL = struct.Struct("<IBBHQQ")

path, unwanted, copy = sys.argv[1:]
with open(path, "rb") as file:
    image = bytearray(file.read())
phoff, = struct.unpack_from("<Q", image, 32)
phentsize, phnum = struct.unpack_from("<HH", image, 54)
segments = [struct.unpack_from("<IIQQQQ", image, phoff + i * phentsize) for i in range(phnum)]


def at(address):
    """Where in the file is what will be at this address."""
    for kind, _, offset, start, _, size in segments:
        if kind == PT_LOAD and start <= address < start + size:
            return address - start + offset
    raise ValueError(hex(address))


table = {}
for kind, _, offset, _, _, size in segments:
    if kind == PT_DYNAMIC:
        table.update(struct.iter_unpack("<QQ", image[offset:offset + size]))
strings, symbols = at(table[DT_STRTAB]), at(table[DT_SYMTAB])
removed, offset = 0, symbols
# The strings follow the symbols, as every linker lays them out.
while offset + SYMBOL.size <= strings:
    name, info, other, section, value, size = SYMBOL.unpack_from(image, offset)
    begin = strings + name
    if section and image[begin:image.index(0, begin)].decode() == unwanted:
        SYMBOL.pack_into(image, offset, name, info, other, 0, 0, 0)
        removed += 1
    offset += SYMBOL.size
assert removed, f"{path} has no {unwanted}"
with open(copy, "wb") as file:
    file.write(image)
