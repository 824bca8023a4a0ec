# SPDX-License-Identifier: MIT
# Used by all that runs inside the traced program; compiled into libccltap, and what
# reads the environment alike into ccltap.

COMMON_SOURCES = \
	src/common/args.h \
	src/common/barrier.c src/common/barrier.h \
	src/common/clock.h \
	src/common/compiler.h \
	src/common/counters.c src/common/counters.h \
	src/common/gate.c src/common/gate.h \
	src/common/helper.c src/common/helper.h \
	src/common/launcher.c src/common/launcher.h \
	src/common/lock.h \
	src/common/metrics_page.h \
	src/common/log.c src/common/log.h \
	src/common/names.h \
	src/common/port_counters.h \
	src/common/ranks.c src/common/ranks.h \
	src/common/safe_read.c src/common/safe_read.h \
	src/common/thread.c src/common/thread.h
