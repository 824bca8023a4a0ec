/* SPDX-License-Identifier: MIT */
/* Asks each supervisor of this user for its status. */
#include "tools/env_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/control_socket.h"
#include "tools/message.h"

#define PATIENCE_SECONDS 10

struct found {
	const char *wanted;
	char *recorder;
	unsigned count;
};

static int ask(const char *place, struct tap_answer *ret_answer)
{
	const struct tap_question question = {.verb = TAP_LINK_STATUS};
	int ret, link = tap_link_connect(place);

	if (link < 0)
		return link;
	tap_link_set_patience(link, PATIENCE_SECONDS);
	ret = tap_link_ask(link, &question, -1);
	if (!ret)
		ret = tap_link_receive_answer(link, ret_answer);
	close(link);
	return ret;
}

static void look_at(const char *place, void *data)
{
	struct found *found = data;
	struct tap_answer answer;

	if (ask(place, &answer) || !*answer.metrics || !*answer.recorder)
		return;
	if (found->wanted && strcmp(found->wanted, answer.session) != 0 &&
	    strcmp(found->wanted, answer.metrics) != 0)
		return;
	found->count++;
	free(found->recorder);
	found->recorder = strdup(answer.recorder);
}

int tap_env_metrics_find(const char *wanted, char **ret_recorder)
{
	struct found found = {.wanted = wanted};

	tap_link_each(look_at, &found);
	if (found.count == 1 && found.recorder) {
		*ret_recorder = found.recorder;
		return 0;
	}
	free(found.recorder);
	if (found.count > 1) {
		tap_message_write("%u recordings have metrics: say which, as \"ccltap "
				  "status\" calls it, with --metrics=SESSION",
				  found.count);
		return TAP_EXIT_USAGE;
	}
	if (found.count)
		tap_message_write("%s", strerror(ENOMEM));
	else if (wanted)
		tap_message_write(
			"no recording \"%s\" with metrics is running for this user "
			"on this host: \"ccltap status\" lists those that do",
			wanted);
	else
		tap_message_write(
			"no recording with metrics is running for this user on this "
			"host: begin with \"ccltap record --metrics --layers none\"");
	return TAP_EXIT_FAILURE;
}
