# SPDX-License-Identifier: MIT
# The portable form: a folder that runs where it is put, and its tarball.  For another processor
# they are made in its root: scripts/check-arm64 --run make CC=gcc wheel.

EXTRA_DIST += portable/README portable/icu.c portable/start scripts/make-portable scripts/minimal-root

PORTABLE = ccltap-$(VERSION)-$(host_cpu)-linux

.PHONY: portable
portable: all tests/doubles/nccl/portable/libnccl.so.2
	$(AM_V_GEN)CC='$(CC)' $(top_srcdir)/scripts/make-portable . $(PORTABLE)

# The same as a wheel, with a module that reads recordings.
python_module = python/ccltap/__init__.py python/ccltap/__main__.py python/ccltap/program.py \
	python/ccltap/recording.py python/ccltap/trace.py
EXTRA_DIST += $(python_module) python/ccltap/py.typed python/README.md scripts/make-wheel \
	scripts/fetch-python-tools

# Debian's packages are made of the checkout: scripts/check-debian.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/rules debian/source/format \
	debian/tests/control debian/tests/record scripts/check-debian

.PHONY: wheel
wheel: portable
	$(AM_V_GEN)$(top_srcdir)/scripts/make-wheel . $(PORTABLE) $(VERSION)

clean-local: clean-portable
.PHONY: clean-portable
clean-portable:
	rm -rf $(PORTABLE) $(PORTABLE).stage $(PORTABLE).wheel
	rm -f ccltap-$(VERSION)-py3-none-*.whl
CLEANFILES += $(PORTABLE).tar.xz portable.log
