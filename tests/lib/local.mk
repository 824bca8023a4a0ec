# SPDX-License-Identifier: MIT
# What the tests share.

EXTRA_DIST += tests/lib/tap.sh
CLEANFILES += tests/alone.lock
