# SPDX-License-Identifier: MIT
# Rules of the tree itself.

tap_tree_shell = tests/tree/test_build.sh tests/tree/test_check.sh tests/tree/test_howto.sh tests/tree/test_in_root.sh \
	tests/tree/test_completion.sh tests/tree/test_parity.sh tests/tree/test_prometheus.sh tests/tree/test_screens.sh \
	tests/tree/test_skipped.sh tests/tree/test_tree.sh tests/tree/test_views.sh
EXTRA_DIST += $(tap_tree_shell) tests/tree/complete_zsh.py tests/tree/picture.py tests/tree/rules_test.yml tests/tree/screens.py \
	tests/tree/screens/record \
	tests/tree/screens/hung.tar.xz tests/tree/screens/late.tar.xz \
	tests/tree/screens/slow.tar.xz
TESTS += $(tap_tree_shell)
