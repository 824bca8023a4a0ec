/* SPDX-License-Identifier: MIT */
/* Sequenced packets over a socket of unix(7): a message is whole or is not there. */
#include "tools/link.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static socklen_t fill_address(struct sockaddr_un *address, const char *place)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	strncpy(address->sun_path + 1, place, sizeof(address->sun_path) - 2);
	return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(place);
}

static void place_prefix(char *ret_prefix, size_t size)
{
	snprintf(ret_prefix, size, "ccltap-%u-", geteuid());
}

void tap_link_place(const char *path, char ret_place[TAP_LINK_PLACE_SIZE])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	char prefix[32];

	for (; *path; path++)
		hash = (hash ^ (unsigned char) *path) * UINT64_C(0x100000001b3);
	place_prefix(prefix, sizeof(prefix));
	snprintf(ret_place, TAP_LINK_PLACE_SIZE, "%s%016" PRIx64, prefix, hash);
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int tap_link_listen(const char *place)
{
	struct sockaddr_un address;
	socklen_t length = fill_address(&address, place);
	int ret, fd = open_socket();

	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *) &address, length) < 0 || listen(fd, 4096) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

#define LOCK_TRIES 6000
#define LOCK_PAUSE_MS 10

int tap_link_lock_daemon(void)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	char place[TAP_LINK_PLACE_SIZE];
	int fd = -EADDRINUSE;

	snprintf(place, sizeof(place), "ccltap.%u.daemon", geteuid());
	for (int tries = 0; fd == -EADDRINUSE && tries < LOCK_TRIES; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		fd = tap_link_listen(place);
	}
	return fd;
}

/* Anybody may take a name in the abstract namespace. */
static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == geteuid() || !peer.uid);
}

int tap_link_connect(const char *place)
{
	struct sockaddr_un address;
	socklen_t length = fill_address(&address, place);
	int ret, fd = open_socket();

	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *) &address, length) < 0)
		ret = -errno;
	else
		ret = is_same_user(fd) ? 0 : -EPERM;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int tap_link_accept(int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_same_user(fd))
		return fd;
	close(fd);
	return -EPERM;
}

static int send_whole(int link, const void *data, size_t size, int fd)
{
	struct iovec part = {(void *) data, size};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do {
		sent = sendmsg(link, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static int receive_whole(int link, void *data, size_t size, int *ret_fd)
{
	struct iovec part = {data, size};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *header;
	ssize_t got;

	*ret_fd = -1;
	do {
		got = recvmsg(link, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	if (!got)
		return -EPIPE;
	return (size_t) got == size ? 0 : -EPROTO;
}

int tap_link_ask(int link, const struct tap_question *question, int fd)
{
	struct tap_question sent = *question;

	sent.version = TAP_LINK_VERSION;
	return send_whole(link, &sent, sizeof(sent), fd);
}

int tap_link_answer(int link, const struct tap_answer *answer)
{
	return send_whole(link, answer, sizeof(*answer), -1);
}

int tap_link_receive_question(int link, struct tap_question *ret_question, int *ret_fd)
{
	int ret = receive_whole(link, ret_question, sizeof(*ret_question), ret_fd);

	if (!ret && ret_question->version != TAP_LINK_VERSION)
		ret = -EPROTO;
	if (ret && *ret_fd >= 0) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return ret;
}

int tap_link_receive_answer(int link, struct tap_answer *ret_answer)
{
	int fd, ret = receive_whole(link, ret_answer, sizeof(*ret_answer), &fd);

	if (fd >= 0)
		close(fd);
	if (!ret && ret_answer->version != TAP_LINK_VERSION)
		ret = -EPROTO;
	return ret;
}

/* One line for each socket; those that listen have the flag SO_ACCEPTCON. */
void tap_link_each(void (*each)(const char *place, void *data), void *data)
{
	char line[512], prefix[32], *name;
	unsigned long flags;
	FILE *file = fopen("/proc/net/unix", "re");

	if (!file)
		return;
	place_prefix(prefix, sizeof(prefix));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		name = strrchr(line, ' ');
		if (!name || name[1] != '@' ||
		    strncmp(name + 2, prefix, strlen(prefix)) ||
		    strlen(name + 2) >= TAP_LINK_PLACE_SIZE)
			continue;
		if (sscanf(line, "%*s %*s %*s %lx", &flags) == 1 && flags & 0x10000)
			each(name + 2, data);
	}
	fclose(file);
}
