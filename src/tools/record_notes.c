/* SPDX-License-Identifier: MIT */
/* A socket for datagrams in the abstract namespace: nothing is left of it. */
#include "tools/record_notes.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static uint64_t time_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/time", &st) ? 0 : st.st_ino;
}

void tap_notes_open(struct tap_notes *notes, const char *session)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length;
	int used;

	*notes = (struct tap_notes){ .fd = -1 };
	used = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", session);
	if (used < 0 || used >= (int)sizeof(address.sun_path) - 1)
		return;
	length = offsetof(struct sockaddr_un, sun_path) + 1 + used;
	notes->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notes->fd < 0)
		return;
	/* Anybody may send, but not everybody may give orders. */
	if (setsockopt(notes->fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) < 0 ||
	    bind(notes->fd, (struct sockaddr *)&address, length) < 0 ||
	    asprintf(&notes->address, "%u %" PRIu64 " %s", getuid(), time_namespace(),
		     session) < 0)
		tap_notes_close(notes);
}

/* Of a message without credentials nobody knows who sent it. */
static bool is_own(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	struct ucred sender;

	if (!header || header->cmsg_level != SOL_SOCKET ||
	    header->cmsg_type != SCM_CREDENTIALS)
		return false;
	memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	return sender.uid == geteuid() || !sender.uid;
}

bool tap_notes_next(const struct tap_notes *notes, char *ret_text, size_t size,
		    bool *ret_own)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = { ret_text, size - 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t length;

	if (notes->fd < 0)
		return false;
	length = recvmsg(notes->fd, &message, MSG_CMSG_CLOEXEC);
	if (length <= 0)
		return false;
	for (ssize_t i = 0; i < length; i++)
		if (ret_text[i] < ' ' || ret_text[i] > '~')
			ret_text[i] = '?';
	ret_text[length] = '\0';
	*ret_own = is_own(&message);
	return true;
}

void tap_notes_keep(struct tap_notes *notes, const char *text)
{
	if (!notes->count++)
		snprintf(notes->first, sizeof(notes->first), "%s", text);
}

void tap_notes_close(struct tap_notes *notes)
{
	if (notes->fd >= 0)
		close(notes->fd);
	free(notes->address);
	*notes = (struct tap_notes){ .fd = -1 };
}
