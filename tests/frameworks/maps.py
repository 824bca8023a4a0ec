# SPDX-License-Identifier: MIT
"""Lets whoever runs the program know which objects it has loaded, and nobody else."""

import atexit
import os


def save():
    path = os.environ.get("FRAMEWORK_MAPS")
    if path:
        with open("/proc/self/maps", encoding="utf-8") as maps, \
                open(path, "a", encoding="utf-8") as file:
            file.write(maps.read())


atexit.register(save)
