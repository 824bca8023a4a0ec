# SPDX-License-Identifier: MIT
# The portable form, in roots in which nothing is installed.

TESTS += tests/portable/portable.sh
EXTRA_DIST += tests/portable/portable.sh tests/portable/enter.sh tests/portable/inside.sh
