# SPDX-License-Identifier: MIT
# A job that is counted and now and then recorded, for a long time: make soak, by hand.
# SOAK_SECONDS=60 is a short one, which tries the program and proves little.

EXTRA_DIST += tests/soak/soak.py tests/soak/test_soak.sh doc/soak.md
TESTS += tests/soak/test_soak.sh
CLEANFILES += soak.md

SOAK_SECONDS = 1200

.PHONY: soak
soak: all $(check_DATA)
	$(AM_V_at)/usr/bin/python3 $(srcdir)/tests/soak/soak.py '$(abs_top_builddir)' \
		$(SOAK_SECONDS) '$(abs_top_builddir)/soak.md'
