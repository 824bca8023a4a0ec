# SPDX-License-Identifier: MIT
# Calls with no symbol: the tables in contexts, queues, and their ordinals.  A part of
# libccltap.so.

VERBS_SOURCES = \
	src/verbs/address.c src/verbs/address.h \
	src/verbs/context.c \
	src/verbs/extended.h src/verbs/extended_cq.c src/verbs/extended_qp.c \
	src/verbs/list.c src/verbs/list.h \
	src/verbs/metered.c src/verbs/metered.h \
	src/verbs/objects.c src/verbs/objects.h \
	src/verbs/post.c src/verbs/post.h src/verbs/poll.c src/verbs/poll.h \
	src/verbs/request.c src/verbs/request.h \
	src/verbs/sample.c \
	src/verbs/setup.c \
	src/verbs/statedump.c \
	src/verbs/table.c src/verbs/table.h \
	src/verbs/owner_counter.c src/verbs/owner_counter.h \
	src/verbs/entry_point.c src/verbs/entry_point.h

EXTRA_DIST += src/verbs/README.md
