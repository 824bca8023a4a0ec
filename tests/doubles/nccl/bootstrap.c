/* SPDX-License-Identifier: MIT */
/* The root thread, the ring, and what is exchanged over them. */
#include "bootstrap.h"

#include "thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* What a unique id holds; the rest of its 128 bytes is zero, as NCCL's is. */
struct handle {
	uint64_t magic;
	struct sockaddr_in address;
};

struct root {
	struct handle handle;
	int listen_fd;
};

struct check_in {
	int rank;
	int nranks;
	struct sockaddr_in address;
};

/* Nobody aborts a root: it waits for as long as its process lives. */
static const atomic_bool never;

static int collect(const struct root *root, int **ret_fds,
		   struct sockaddr_in **ret_addresses, int *ret_nranks)
{
	struct sockaddr_in *addresses = NULL;
	struct check_in in;
	int *fds = NULL;
	int nranks = 1;
	int count = 0;
	int fd;

	while (count < nranks) {
		fd = mini_socket_accept(root->listen_fd, root->handle.magic,
					MINI_SOCKET_BOOTSTRAP, &never);
		if (fd < 0)
			break;
		if (mini_socket_recv(fd, &in, sizeof(in), &never) || in.nranks < 1) {
			close(fd);
			continue;
		}
		if (!fds) {
			nranks = in.nranks;
			fds = malloc((size_t) nranks * sizeof(*fds));
			addresses = calloc((size_t) nranks, sizeof(*addresses));
			if (!fds || !addresses) {
				close(fd);
				break;
			}
			memset(fds, 0xff, (size_t) nranks * sizeof(*fds));
		}
		/* A rank that was already there or is of another size is not let in. */
		if (in.nranks != nranks || in.rank < 0 || in.rank >= nranks ||
		    fds[in.rank] >= 0) {
			close(fd);
			continue;
		}
		fds[in.rank] = fd;
		addresses[in.rank] = in.address;
		count++;
	}
	*ret_fds = fds;
	*ret_addresses = addresses;
	*ret_nranks = nranks;
	return count == nranks ? 0 : -EIO;
}

static void *root_main(void *arg)
{
	struct root *root = arg;
	struct sockaddr_in *addresses;
	int *fds;
	int nranks;
	int i;

	if (collect(root, &fds, &addresses, &nranks) == 0) {
		for (i = 0; i < nranks; i++) {
			mini_socket_send(fds[i], &addresses[(i + 1) % nranks],
					 sizeof(addresses[0]), &never);
		}
	}
	for (i = 0; fds && i < nranks; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	close(root->listen_fd);
	free(fds);
	free(addresses);
	free(root);
	return NULL;
}

int mini_bootstrap_create_root(ncclUniqueId *ret_id)
{
	struct root *root = calloc(1, sizeof(*root));
	pthread_t thread;
	int err;

	if (!root)
		return -ENOMEM;
	root->listen_fd = mini_socket_listen(&root->handle.address);
	if (root->listen_fd < 0) {
		err = root->listen_fd;
		free(root);
		return err;
	}
	if (getrandom(&root->handle.magic, sizeof(root->handle.magic), 0) < 0)
		root->handle.magic = (uint64_t) getpid();
	memset(ret_id, 0, sizeof(*ret_id));
	memcpy(ret_id->internal, &root->handle, sizeof(root->handle));

	/* NCCL detaches its root too, and gives it this name. */
	err = pthread_create(&thread, NULL, root_main, root);
	if (err) {
		close(root->listen_fd);
		free(root);
		return -err;
	}
	mini_thread_set_name(thread, "NCCL BootstrapR");
	pthread_detach(thread);
	return 0;
}

uint64_t mini_bootstrap_hash(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash;
}

int mini_bootstrap_open(struct mini_bootstrap *bootstrap, uint64_t magic, int rank,
			int nranks, const atomic_bool *aborted)
{
	bootstrap->magic = magic;
	bootstrap->rank = rank;
	bootstrap->nranks = nranks;
	bootstrap->aborted = aborted;
	bootstrap->next_fd = -1;
	bootstrap->previous_fd = -1;
	bootstrap->listen_fd = mini_socket_listen(&bootstrap->address);
	return bootstrap->listen_fd < 0 ? bootstrap->listen_fd : 0;
}

int mini_bootstrap_meet(struct mini_bootstrap *bootstrap, const ncclUniqueId *id)
{
	struct check_in in = {bootstrap->rank, bootstrap->nranks, bootstrap->address};
	struct sockaddr_in next;
	struct handle handle;
	int fd;
	int err;

	memcpy(&handle, id->internal, sizeof(handle));
	bootstrap->magic = handle.magic;
	fd = mini_socket_connect(&handle.address, handle.magic, MINI_SOCKET_BOOTSTRAP,
				 bootstrap->aborted);
	if (fd < 0)
		return fd;
	err = mini_socket_send(fd, &in, sizeof(in), bootstrap->aborted);
	if (!err)
		err = mini_socket_recv(fd, &next, sizeof(next), bootstrap->aborted);
	close(fd);
	return err ? err : mini_bootstrap_join(bootstrap, &next);
}

int mini_bootstrap_join(struct mini_bootstrap *bootstrap, const struct sockaddr_in *next)
{
	if (bootstrap->nranks == 1)
		return 0;
	bootstrap->next_fd =
		mini_socket_connect(next, bootstrap->magic, MINI_SOCKET_BOOTSTRAP,
				    bootstrap->aborted);
	if (bootstrap->next_fd < 0)
		return bootstrap->next_fd;
	bootstrap->previous_fd =
		mini_socket_accept(bootstrap->listen_fd, bootstrap->magic,
				   MINI_SOCKET_BOOTSTRAP, bootstrap->aborted);
	return bootstrap->previous_fd < 0 ? bootstrap->previous_fd : 0;
}

int mini_bootstrap_allgather(struct mini_bootstrap *bootstrap, void *all, size_t size)
{
	char *parts = all;
	int n = bootstrap->nranks;
	int step;
	int err;

	for (step = 0; step < n - 1; step++) {
		size_t mine = (size_t) ((bootstrap->rank - step + n) % n);
		size_t theirs = (size_t) ((bootstrap->rank - step - 1 + n) % n);

		err = mini_socket_send(bootstrap->next_fd, parts + mine * size, size,
				       bootstrap->aborted);
		if (!err)
			err = mini_socket_recv(bootstrap->previous_fd,
					       parts + theirs * size, size,
					       bootstrap->aborted);
		if (err)
			return err;
	}
	return 0;
}

void mini_bootstrap_close(struct mini_bootstrap *bootstrap)
{
	int fds[] = {bootstrap->listen_fd, bootstrap->next_fd, bootstrap->previous_fd};
	int i;

	for (i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}
