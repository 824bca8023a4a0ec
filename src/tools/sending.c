/* SPDX-License-Identifier: MIT */
/* Counts what is lost from when the connection ends until the next session has begun. */
#include "tools/sending.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "tools/message.h"

/* How long to wait before the daemon is looked for again. */
#define RETRY_MS 1000

/* Fills the folder's name, from DIR/<host>. */
static int name_folder(struct tap_sending *sending, const char *path, const char *session)
{
	const char *host = path ? strrchr(path, '/') : NULL, *name = host;

	if (!host)
		return -EINVAL;
	while (name > path && name[-1] != '/')
		name--;
	return snprintf(sending->folder, sizeof(sending->folder), "%.*s%s%s",
			(int) (host - name), name, host > name ? "/" : "",
			session) < (int) sizeof(sending->folder)
		       ? 0
		       : -ENAMETOOLONG;
}

int tap_sending_open(struct tap_sending *sending, const struct tap_relayd *relayd,
		     const char *path, const char *session)
{
	const char *why = "";
	int ret;

	*sending = (struct tap_sending){.relayd = relayd, .fd = -1};
	ret = name_folder(sending, path, session);
	if (ret) {
		tap_message_write("cannot name a folder of the relay daemon: %s",
				  strerror(-ret));
		return ret;
	}
	sending->fd = tap_relayd_connect(relayd, sending->number, &why);
	if (sending->fd >= 0)
		return 0;
	tap_message_write(
		"no relay daemon answers at %s (%s), and the program was not run: "
		"start lttng-relayd there, or give another one with --relay",
		relayd->shown, why);
	return -ECONNREFUSED;
}

char *tap_sending_url(const struct tap_sending *sending)
{
	char folder[PATH_MAX + 32];

	if (!sending->parts)
		return tap_relayd_url(sending->relayd, sending->number, sending->folder);
	snprintf(folder, sizeof(folder), "%s/" TAP_SENDING_AGAIN "%u", sending->folder,
		 sending->parts + 1);
	return tap_relayd_url(sending->relayd, sending->number, folder);
}

void tap_sending_begun(struct tap_sending *sending)
{
	sending->parts++;
}

static void disconnect(struct tap_sending *sending)
{
	if (sending->fd >= 0)
		close(sending->fd);
	sending->fd = -1;
	sending->next_try_ms = tap_now_ms() + RETRY_MS;
}

void tap_sending_lose(struct tap_sending *sending)
{
	disconnect(sending);
	sending->gone_ms = tap_now_ms();
	if (!sending->losses++)
		sending->first_lost = time(NULL);
}

bool tap_sending_is_lost(const struct tap_sending *sending)
{
	return sending->relayd && sending->fd < 0;
}

int64_t tap_sending_due_ms(const struct tap_sending *sending)
{
	return sending->next_try_ms;
}

bool tap_sending_retry(struct tap_sending *sending)
{
	const char *why;

	if (tap_now_ms() < sending->next_try_ms)
		return false;
	sending->fd = tap_relayd_connect(sending->relayd, sending->number, &why);
	sending->next_try_ms = tap_now_ms() + RETRY_MS;
	return sending->fd >= 0;
}

void tap_sending_resume(struct tap_sending *sending, bool was_begun)
{
	if (!was_begun) {
		disconnect(sending);
		return;
	}
	tap_sending_begun(sending);
	sending->lost_ms += tap_now_ms() - sending->gone_ms;
	sending->last_back = time(NULL);
}

static void add_time(char *text, size_t size, time_t time)
{
	struct tm broken;
	const size_t used = strlen(text);

	if (!localtime_r(&time, &broken) ||
	    !strftime(text + used, size - used, "%H:%M:%S", &broken))
		text[used] = '\0';
}

static void add(char *text, size_t size, const char *more)
{
	const size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

void tap_sending_describe(const struct tap_sending *sending, char *ret_text, size_t size)
{
	const bool is_lost = tap_sending_is_lost(sending);
	const int64_t lost_ms =
		sending->lost_ms + (is_lost ? tap_now_ms() - sending->gone_ms : 0);
	char number[64];

	*ret_text = '\0';
	if (!sending->losses)
		return;
	add(ret_text, size, "the relay daemon went away ");
	if (sending->losses > 1) {
		snprintf(number, sizeof(number), "%u times, first ", sending->losses);
		add(ret_text, size, number);
	}
	add(ret_text, size, "at ");
	add_time(ret_text, size, sending->first_lost);
	if (is_lost) {
		add(ret_text, size, " and is not back");
	} else {
		add(ret_text, size,
		    sending->losses > 1 ? " and was last back at " : " and was back at ");
		add_time(ret_text, size, sending->last_back);
	}
	snprintf(number, sizeof(number), " (%" PRId64 ".%" PRId64 " s in all)",
		 lost_ms / 1000, lost_ms % 1000 / 100);
	add(ret_text, size, number);
	add(ret_text, size,
	    "; what was recorded until then and not yet sent is lost, too");
}

void tap_sending_close(struct tap_sending *sending)
{
	if (sending->relayd && sending->fd >= 0)
		close(sending->fd);
	*sending = (struct tap_sending){.fd = -1};
}
