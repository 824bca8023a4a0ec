# SPDX-License-Identifier: MIT
# Rules of the tree itself.

EXTRA_DIST += tests/tree/test_build.sh tests/tree/test_tree.sh tests/tree/test_views.sh
TESTS += tests/tree/test_build.sh tests/tree/test_tree.sh tests/tree/test_views.sh
