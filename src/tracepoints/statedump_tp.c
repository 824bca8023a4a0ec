/* SPDX-License-Identifier: MIT */
/*
 * Has LTTng say when state is wanted: when a session starts, and on "lttng regenerate
 * statedump", it writes a state of its own between two tracepoints, on the first of
 * which we stand too; and keeps what it has in this library.
 */
#include "tracepoints/guest.h"

#include <lttng/tracepoint.h>

#include "tracepoints/providers.h"

struct lttng_ust_session;

static void (*write_statedump)(void);

/* By a thread of LTTng's, which has all signals blocked and waits for nobody. */
static void on_statedump(void *data, struct lttng_ust_session *session)
{
	(void) data;
	(void) session;
	write_statedump();
}

/* Known once the constructors have run, in whatever order. */
void tap_tp_stay(void)
{
	tracepoint_disable_destructors();
}

/* The types as LTTng-UST 2.13 and 2.14 write them; with others it refuses. */
bool tap_tp_set_statedump(void (*write)(void))
{
	write_statedump = write;
	return !lttng_ust_tracepoint_provider_register(
		"lttng_ust_statedump", "start", (void (*)(void)) on_statedump, NULL,
		"struct lttng_ust_session *, session");
}
