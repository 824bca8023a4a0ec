/* SPDX-License-Identifier: MIT */
/* The page that a process sends: to a supervisor that reads, and to one that does not. */
#include "intercept/recorder.c"

#include <dirent.h>
#include <signal.h>
#include <sys/time.h>

#include "tools/record_notes.h"
#include "unit/tap.h"

const struct tap_events *tap_events_table; /* LTTng is not loaded */

static unsigned count_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static bool open_notes(struct tap_notes *notes)
{
	tap_notes_open(notes);
	return notes->address && !setenv("CCLTAP_RECORDER", notes->address, 1);
}

static bool arrival(void)
{
	struct tap_notes notes;
	bool is_passed = true, is_own;
	char text[128];
	int fd = -1;

	CHECK(open_notes(&notes));
	errno = EDOM;
	CHECK(tap_recorder_send_page(notes.fd));
	CHECK(errno == EDOM);
	CHECK(tap_notes_next(&notes, text, sizeof(text), &is_own, &fd));
	CHECK(is_own && fd >= 0);
	CHECK(!strncmp(text, TAP_METRICS_NOTE, strlen(TAP_METRICS_NOTE)));
	close(fd);
	tap_notes_close(&notes);
	return is_passed;
}

static void be_interrupted(int number)
{
	(void) number;
}

/* With a signal each 10 ms. */
static bool patience(void)
{
	const struct sigaction action = {.sa_handler = be_interrupted};
	const struct itimerval often = {{.tv_usec = 10000}, {.tv_usec = 10000}};
	const struct itimerval never = {0};
	struct tap_notes notes;
	bool is_passed = true;
	int64_t start_ms;
	unsigned sent;

	CHECK(open_notes(&notes));
	sigaction(SIGALRM, &action, NULL);
	start_ms = tap_now_ms();
	setitimer(ITIMER_REAL, &often, NULL);
	for (sent = 0; sent < 10000 && tap_recorder_send_page(notes.fd); sent++)
		;
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(sent < 10000);
	CHECK(tap_now_ms() - start_ms >= PATIENCE_MS);
	tap_notes_close(&notes);
	return is_passed;
}

static bool two_descriptors(void)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {.room = {0}};
	struct iovec part = {0};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct tap_notes notes;
	struct recorder recorder;
	bool is_passed = true, is_own;
	const unsigned before = count_open();
	int pair[2], fd = -1;
	char text[128];

	CHECK(open_notes(&notes) && find(&recorder));
	pair[0] = pair[1] = notes.fd;
	part.iov_base = text;
	part.iov_len = (size_t) snprintf(text, sizeof(text), "%smetrics", recorder.token);
	message.msg_name = &recorder.socket;
	message.msg_namelen = recorder.socket_length;
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(pair));
	memcpy(CMSG_DATA(&control.header), pair, sizeof(pair));
	CHECK(sendmsg(notes.fd, &message, 0) > 0);
	CHECK(tap_notes_next(&notes, text, sizeof(text), &is_own, &fd));
	CHECK(fd >= 0);
	close(fd);
	tap_notes_close(&notes);
	CHECK(count_open() == before);
	return is_passed;
}

int main(void)
{
	puts("1..3");
	report("a page arrives, and errno is kept", arrival);
	report("a supervisor that does not read is waited for no longer for signals",
	       patience);
	report("of two descriptors none stays open", two_descriptors);
	return 0;
}
