/* SPDX-License-Identifier: MIT */
/*
 * LTTng's relay daemon (lttng-relayd), to which a recording may be sent instead of to a
 * disk of this host.
 *
 * Hides how a user writes its address, and LTTng's URLs.
 */
#ifndef TAP_TOOLS_RELAYD_H
#define TAP_TOOLS_RELAYD_H

#include <stddef.h>

struct tap_relayd {
	char host[256];	 /* a name or a number */
	char shown[280]; /* host and control port, for messages */
	unsigned control_port, data_port;
};

/*
 * Reads HOST[:PORT[:DATA-PORT]], a number of IPv6 in brackets. Returns 0, or -EINVAL when
 * it is nothing of the kind.
 */
int tap_relayd_parse(const char *text, struct tap_relayd *ret_relayd);

/*
 * Connects to the control port. Returns a descriptor that becomes readable when the
 * daemon is gone, and the number of the host that answered in ret_number; or -1, and in
 * *ret_why the reason, which stays valid.
 */
#define TAP_RELAYD_NUMBER_SIZE 64
int tap_relayd_connect(const struct tap_relayd *relayd,
		       char ret_number[TAP_RELAYD_NUMBER_SIZE], const char **ret_why);

/* LTTng's URL of a folder there, which the caller frees; NULL: out of memory. */
char *tap_relayd_url(const struct tap_relayd *relayd, const char *number,
		     const char *folder);

#endif
