/* SPDX-License-Identifier: MIT */
/* Asks for the text of now, and reads what comes along with the answer. */
#include "tools/top_look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A supervisor may be waiting for LTTng's daemon. */
#define PATIENCE_SECONDS 5

static int look_at_text(int fd, int64_t looked_ms, struct tap_top_table *table)
{
	struct stat st;
	void *text;
	int ret;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return -EPROTO;
	text = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	ret = tap_top_table_look(table, text, (size_t) st.st_size, looked_ms);
	munmap(text, (size_t) st.st_size);
	return ret;
}

int tap_top_look(const struct tap_counting *counting, struct tap_top_table *table,
		 int (*await)(int link, unsigned seconds), char *why, size_t size)
{
	struct tap_answer answer;
	int fd = -1, ret;

	ret = tap_link_request_awaiting(counting->place, TAP_LINK_METRICS,
					PATIENCE_SECONDS, await, &answer, &fd);
	if (ret == -ECONNREFUSED || ret == -ECONNRESET || ret == -EPIPE)
		return -EPIPE;
	if (!ret && answer.error) {
		/* A supervisor of an older version does not know the question. */
		snprintf(why, size, "%s",
			 *answer.text ? answer.text
				      : "the recording is of another version of ccltap");
		ret = -EIO;
	} else {
		if (!ret)
			ret = look_at_text(fd, strtoll(answer.text, NULL, 10), table);
		if (ret)
			snprintf(why, size, "%s does not answer: %s", counting->session,
				 strerror(-ret));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}
