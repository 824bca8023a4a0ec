# SPDX-License-Identifier: MIT
# Rules of the tree itself.

tap_tree_shell = tests/tree/test_build.sh tests/tree/test_howto.sh \
	tests/tree/test_tree.sh tests/tree/test_views.sh
EXTRA_DIST += $(tap_tree_shell)
TESTS += $(tap_tree_shell)
