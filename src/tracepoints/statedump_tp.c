/* SPDX-License-Identifier: MIT */
/*
 * Has LTTng call for a state dump.  When a session starts, and on "lttng regenerate
 * statedump", LTTng writes a state dump of its own between two tracepoints; this file
 * registers a probe on the first.  It also keeps LTTng's data in this library.
 */
#include "tracepoints/guest.h"

#include <lttng/tracepoint.h>

#include "tracepoints/providers.h"

struct lttng_ust_session;

static void (*write_statedump)(void);

/*
 * Called by a thread of LTTng's, which has all signals blocked and for which no thread
 * waits.
 */
static void on_statedump(void *data, struct lttng_ust_session *session)
{
	(void) data;
	(void) session;
	write_statedump();
}

/* Called after the constructors have run, in whatever order. */
void tap_tp_stay(void)
{
	tracepoint_disable_destructors();
}

/* The signature is that of LTTng-UST 2.13 and 2.14; LTTng refuses a different one. */
bool tap_tp_set_statedump(void (*write)(void))
{
	write_statedump = write;
	return !lttng_ust_tracepoint_provider_register(
		"lttng_ust_statedump", "start", (void (*)(void)) on_statedump, NULL,
		"struct lttng_ust_session *, session");
}
