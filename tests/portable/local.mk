# SPDX-License-Identifier: MIT
# The portable form, in roots in which nothing is installed.

TESTS += tests/portable/test_portable.sh
EXTRA_DIST += tests/portable/test_portable.sh tests/portable/enter.sh \
	tests/portable/inside.sh
