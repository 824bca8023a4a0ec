# SPDX-License-Identifier: MIT
# The portable form, in roots in which nothing is installed, and the wheel.

TESTS += tests/portable/test_portable.sh tests/portable/test_wheel.sh
EXTRA_DIST += tests/portable/test_portable.sh tests/portable/enter.sh \
	tests/portable/inside.sh tests/portable/inside-wheel.sh tests/portable/module.py \
	tests/portable/part.py tests/portable/test_wheel.sh
