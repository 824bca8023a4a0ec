/* SPDX-License-Identifier: MIT */
/* Sequenced packets over a socket of unix(7): a message arrives whole or not at all. */
#include "tools/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/user_folder.h"

/* Limit for the lock of the names, and for a connection to be accepted. */
#define LISTEN_MS 10000
#define CONNECT_SECONDS 10
/* Limit for the lock of the session daemon. */
#define DAEMON_MS 60000

static const char names_lock[] = "lock", daemon_lock[] = "daemon.lock";

void tap_link_place(const char *path, char ret_place[TAP_LINK_PLACE_SIZE])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char) *path) * UINT64_C(0x100000001b3);
	snprintf(ret_place, TAP_LINK_PLACE_SIZE, "%016" PRIx64, hash);
}

static bool is_place(const char *name)
{
	return strlen(name) == TAP_LINK_PLACE_SIZE - 1 &&
	       strspn(name, "0123456789abcdef") == TAP_LINK_PLACE_SIZE - 1;
}

static void fill_address(struct sockaddr_un *address, const char *folder,
			 const char *place)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", folder, place);
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/*
 * The caller holds the lock of the names, so the owner of a socket without a listener is
 * dead.
 */
static int take_name(const char *folder, const char *place)
{
	struct sockaddr_un address;
	int ret, fd;

	ret = tap_link_connect(place);
	if (ret >= 0)
		close(ret);
	if (ret != -ECONNREFUSED)
		return ret >= 0 || ret == -ETIMEDOUT ? -EADDRINUSE : ret;
	fd = open_socket();
	if (fd < 0)
		return fd;
	fill_address(&address, folder, place);
	unlink(address.sun_path);
	if (!bind(fd, (struct sockaddr *) &address, sizeof(address)) && !listen(fd, 4096))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int tap_link_listen(const char *place)
{
	char folder[TAP_USER_FOLDER_SIZE];
	int ret, lock = tap_user_folder_lock(names_lock, LISTEN_MS);

	if (lock < 0)
		return lock;
	ret = tap_user_folder_find(folder);
	if (!ret)
		ret = take_name(folder, place);
	close(lock);
	return ret;
}

void tap_link_leave(const char *place, int listen_fd)
{
	int lock = tap_user_folder_lock(names_lock, LISTEN_MS);
	char folder[TAP_USER_FOLDER_SIZE];
	struct sockaddr_un address;

	/* Nobody else can have taken the name meanwhile: this process listens. */
	if (lock >= 0 && !tap_user_folder_find(folder)) {
		fill_address(&address, folder, place);
		unlink(address.sun_path);
	}
	close(listen_fd);
	if (lock >= 0)
		close(lock);
}

int tap_link_lock_daemon(void)
{
	return tap_user_folder_lock(daemon_lock, DAEMON_MS);
}

/* Other users cannot enter the folder; this check guards against a bug. */
static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == geteuid() || !peer.uid);
}

int tap_link_connect(const char *place)
{
	const struct timeval patience = {.tv_sec = CONNECT_SECONDS};
	char folder[TAP_USER_FOLDER_SIZE];
	struct sockaddr_un address;
	int ret, fd;

	if (tap_user_folder_find(folder))
		return -ECONNREFUSED;
	fd = open_socket();
	if (fd < 0)
		return fd;
	fill_address(&address, folder, place);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
		ret = errno == EAGAIN	? -ETIMEDOUT
		      : errno == ENOENT ? -ECONNREFUSED
					: -errno;
	else
		ret = is_same_user(fd) ? 0 : -EPERM;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

void tap_link_set_patience(int link, unsigned seconds)
{
	const struct timeval patience = {.tv_sec = seconds};

	setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
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
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
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
	return tap_link_answer_with(link, answer, -1);
}

int tap_link_answer_with(int link, const struct tap_answer *answer, int fd)
{
	return send_whole(link, answer, sizeof(*answer), fd);
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

/* *ret_fd is set when that succeeds; NULL: what is passed along is closed. */
static int receive_answer(int link, struct tap_answer *ret_answer, int *ret_fd)
{
	int fd, ret = receive_whole(link, ret_answer, sizeof(*ret_answer), &fd);

	if (!ret && ret_answer->version != TAP_LINK_VERSION)
		ret = -EPROTO;
	if (!ret && ret_fd)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	return ret;
}

int tap_link_receive_answer(int link, struct tap_answer *ret_answer)
{
	return receive_answer(link, ret_answer, NULL);
}

int tap_link_request(const char *place, enum tap_link_verb verb,
		     unsigned patience_seconds, struct tap_answer *ret_answer,
		     int *ret_fd)
{
	return tap_link_request_awaiting(place, verb, patience_seconds, NULL, ret_answer,
					 ret_fd);
}

int tap_link_request_awaiting(const char *place, enum tap_link_verb verb,
			      unsigned patience_seconds,
			      int (*await)(int link, unsigned seconds),
			      struct tap_answer *ret_answer, int *ret_fd)
{
	const struct tap_question question = {.verb = verb};
	int ret, link = tap_link_connect(place);

	if (link < 0)
		return link;
	tap_link_set_patience(link, patience_seconds);
	ret = tap_link_ask(link, &question, -1);
	if (!ret && await)
		ret = await(link, patience_seconds);
	if (!ret)
		ret = receive_answer(link, ret_answer, ret_fd);
	close(link);
	return ret;
}

static bool is_below(const char *path, const char *folder)
{
	const size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

bool tap_link_is_named(const struct tap_answer *answer, const char *name,
		       const char *real)
{
	if (!strcmp(name, answer->session) || !strcmp(name, answer->metrics))
		return true;
	return real && (!strcmp(real, answer->metrics) || is_below(answer->path, real) ||
			is_below(answer->folder, real));
}

void tap_link_each(void (*each)(const char *place, void *data), void *data)
{
	char path[TAP_USER_FOLDER_SIZE];
	struct dirent *entry;
	DIR *folder;

	if (tap_user_folder_find(path))
		return;
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (is_place(entry->d_name))
			each(entry->d_name, data);
	closedir(folder);
}

static void clean_one(const char *place, void *data)
{
	char folder[TAP_USER_FOLDER_SIZE];
	struct sockaddr_un address;
	int link = tap_link_connect(place);

	(void) data;
	if (link >= 0)
		close(link);
	if (link != -ECONNREFUSED || tap_user_folder_find(folder))
		return;
	fill_address(&address, folder, place);
	unlink(address.sun_path);
}

void tap_link_clean(void)
{
	int lock = tap_user_folder_lock(names_lock, LISTEN_MS);

	if (lock < 0)
		return;
	tap_link_each(clean_one, NULL);
	close(lock);
}
