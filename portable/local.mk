# SPDX-License-Identifier: MIT
# The portable form: a folder that runs where it is put, and its tarball.

EXTRA_DIST += portable/README portable/icu.c portable/start scripts/make-portable scripts/minimal-root

PORTABLE = ccltap-$(VERSION)-x86_64-linux

.PHONY: portable
portable: all
	$(AM_V_GEN)CC='$(CC)' $(top_srcdir)/scripts/make-portable . $(PORTABLE)

clean-local: clean-portable
.PHONY: clean-portable
clean-portable:
	rm -rf $(PORTABLE) $(PORTABLE).stage
CLEANFILES += $(PORTABLE).tar.xz portable.log
