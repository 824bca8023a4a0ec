/* SPDX-License-Identifier: MIT */
/*
 * A socket for datagrams in the abstract namespace: it leaves no file, and a program in a
 * container with other folders can reach it, as long as the network namespace is the
 * same.
 */
#include "tools/record_notes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TOKEN_SIZE (TAP_NOTES_TOKEN_SIZE - 1)

static uint64_t time_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/time", &st) ? 0 : st.st_ino;
}

/*
 * The kernel drops datagrams that do not begin with the token, so that a stranger cannot
 * fill the queue. The filter loads words in network byte order.
 */
static void filter_strangers(int fd, const char *token)
{
	struct sock_filter code[2 * (TOKEN_SIZE / 4) + 2];
	struct sock_fprog program = {.filter = code};
	uint32_t word;

	for (unsigned i = 0; i < TOKEN_SIZE / 4; i++) {
		memcpy(&word, token + 4 * i, sizeof(word));
		code[program.len++] =
			(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * i);
		code[program.len++] =
			(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      ntohl(word), 0,
						      2 * (TOKEN_SIZE / 4 - 1 - i) + 1);
	}
	code[program.len++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, UINT16_MAX);
	code[program.len++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, 0);
	/* If the filter is not available, the reading side still checks the token. */
	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int open_socket(struct tap_notes *notes, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);

	memcpy(address.sun_path + 1, name, length);
	notes->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notes->fd < 0)
		return -errno;
	filter_strangers(notes->fd, notes->token);
	if (setsockopt(notes->fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) < 0 ||
	    bind(notes->fd, (struct sockaddr *) &address,
		 offsetof(struct sockaddr_un, sun_path) + 1 + length) < 0)
		return -errno;
	return 0;
}

void tap_notes_open(struct tap_notes *notes)
{
	uint64_t bits[3];
	char name[32];

	*notes = (struct tap_notes){.fd = -1};
	/*
	 * Everybody can see the name, in /proc/net/unix; nobody can guess and take it
	 * beforehand.
	 */
	if (getrandom(bits, sizeof(bits), 0) != sizeof(bits))
		return;
	snprintf(name, sizeof(name), "ccltap-%016" PRIx64, bits[0]);
	snprintf(notes->token, sizeof(notes->token), "%016" PRIx64 "%016" PRIx64, bits[1],
		 bits[2]);
	if (open_socket(notes, name) ||
	    asprintf(&notes->address, "%u %" PRIu64 " %s %s", getuid(), time_namespace(),
		     notes->token, name) < 0)
		tap_notes_close(notes);
}

/* Padding leaves room for more than one, and the others would stay open. */
static void take_first(const struct cmsghdr *header, int *ret_fd)
{
	const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fd;

	for (size_t i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(header) + i * sizeof(fd), sizeof(fd));
		if (*ret_fd < 0)
			*ret_fd = fd;
		else
			close(fd);
	}
}

/* The sender of a message without credentials is unknown. */
static void read_control(struct msghdr *message, bool *ret_own, int *ret_fd)
{
	struct cmsghdr *header;
	struct ucred sender;

	*ret_own = false;
	*ret_fd = -1;
	for (header = CMSG_FIRSTHDR(message); header;
	     header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET)
			continue;
		if (header->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&sender, CMSG_DATA(header), sizeof(sender));
			*ret_own = sender.uid == geteuid() || !sender.uid;
		} else if (header->cmsg_type == SCM_RIGHTS &&
			   header->cmsg_len >= CMSG_LEN(sizeof(int))) {
			take_first(header, ret_fd);
		}
	}
}

bool tap_notes_next(const struct tap_notes *notes, char *ret_text, size_t size,
		    bool *ret_own, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} control;
	char text[512];
	struct iovec part = {text, sizeof(text)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
	};
	ssize_t length;

	*ret_fd = -1;
	if (notes->fd < 0)
		return false;
	do {
		if (*ret_fd >= 0)
			close(*ret_fd);
		message.msg_controllen = sizeof(control.room);
		length = recvmsg(notes->fd, &message, MSG_CMSG_CLOEXEC);
		*ret_fd = -1;
		if (length < 0)
			return false;
		read_control(&message, ret_own, ret_fd);
	} while (length <= TOKEN_SIZE || memcmp(text, notes->token, TOKEN_SIZE) != 0);
	length -= TOKEN_SIZE;
	snprintf(ret_text, size, "%.*s", (int) length, text + TOKEN_SIZE);
	for (char *c = ret_text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
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
