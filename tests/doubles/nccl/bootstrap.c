/* SPDX-License-Identifier: MIT */
/* The root thread, the ring, and what is exchanged over them. */
#include "bootstrap.h"

#include "thread.h"
#include "truth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* What a unique id holds; the rest of its 128 bytes is zero, as NCCL's is. */
struct handle {
	uint64_t magic;
	struct sockaddr_in address;
	/* That are there already and are joined by those that have the id. */
	int nranks;
};

struct root {
	struct handle handle;
	int listen_fd;
	/* For one communicator after the other. */
	bool is_lasting;
};

/* Of ids that the environment gives. */
#define FIXED_MAGIC 0x66697865642069d0ULL

/*
 * The ranks of a root are a piece of the ring.  Each of them asks for the address
 * of the next, and the first one after the piece checks in without asking, unless
 * the piece is the whole ring.
 */
struct check_in {
	int position;
	int count;
	bool is_ring;
	struct sockaddr_in address;
};

/* What is sent from rank to rank begins with this. */
struct label {
	int from;
	uint32_t size;
	uint64_t tag;
};

struct mini_parcel {
	struct mini_parcel *next;
	struct label label;
	char data[];
};

/* Nobody aborts a root: it waits for as long as its process lives. */
static const atomic_bool never;

/* Those that have checked in, by position. */
struct piece {
	int count;
	int size;
	int *fds;
	struct sockaddr_in *addresses;
};

static bool lay_out(struct piece *piece, const struct check_in *in)
{
	piece->count = in->count;
	piece->size = in->count + !in->is_ring;
	piece->fds = malloc((size_t) piece->size * sizeof(*piece->fds));
	piece->addresses = calloc((size_t) piece->size, sizeof(*piece->addresses));
	if (!piece->fds || !piece->addresses)
		return false;
	memset(piece->fds, 0xff, (size_t) piece->size * sizeof(*piece->fds));
	return true;
}

static int collect(const struct root *root, struct piece *piece)
{
	struct check_in in;
	int there = 0;
	int fd;

	while (!piece->fds || there < piece->size) {
		fd = mini_socket_accept(root->listen_fd, root->handle.magic,
					MINI_SOCKET_BOOTSTRAP, &never);
		if (fd < 0)
			return fd;
		if (mini_socket_recv(fd, &in, sizeof(in), &never) || in.count < 1) {
			close(fd);
			continue;
		}
		if (!piece->fds && !lay_out(piece, &in)) {
			close(fd);
			return -ENOMEM;
		}
		/* Who was already there or is of another size is not let in. */
		if (in.count != piece->count || in.position < 0 ||
		    in.position >= piece->size || piece->fds[in.position] >= 0) {
			close(fd);
			continue;
		}
		piece->fds[in.position] = fd;
		piece->addresses[in.position] = in.address;
		there++;
	}
	return 0;
}

static void serve(const struct root *root)
{
	struct piece piece = {0};
	int i;

	if (collect(root, &piece) == 0) {
		for (i = 0; i < piece.count; i++) {
			mini_socket_send(piece.fds[i],
					 &piece.addresses[(i + 1) % piece.size],
					 sizeof(piece.addresses[0]), &never);
		}
	}
	for (i = 0; piece.fds && i < piece.size; i++) {
		if (piece.fds[i] >= 0)
			close(piece.fds[i]);
	}
	free(piece.fds);
	free(piece.addresses);
}

static void *root_main(void *arg)
{
	struct root *root = arg;

	mini_truth_thread(MINI_THREAD_ROOT, NULL);
	do
		serve(root);
	while (root->is_lasting);
	close(root->listen_fd);
	free(root);
	return NULL;
}

static int start_root(struct root *root)
{
	struct mini_thread thread;
	/* NCCL detaches its root too, and gives it this name. */
	int err = mini_thread_start(&thread, MINI_ARGUMENT_ROOT, root_main, root);

	if (err) {
		close(root->listen_fd);
		free(root);
		return err;
	}
	mini_thread_name(&thread, "NCCL BootstrapR");
	mini_thread_detach(&thread);
	return 0;
}

int mini_bootstrap_create_join_root(ncclUniqueId *ret_id, uint64_t magic, int nranks)
{
	struct root *root = calloc(1, sizeof(*root));
	int err;

	if (!root)
		return -ENOMEM;
	root->listen_fd = mini_socket_listen(&root->handle.address);
	if (root->listen_fd < 0) {
		err = root->listen_fd;
		free(root);
		return err;
	}
	root->handle.magic = magic;
	root->handle.nranks = nranks;
	memset(ret_id, 0, sizeof(*ret_id));
	memcpy(ret_id->internal, &root->handle, sizeof(root->handle));
	return start_root(root);
}

static bool fixed_handle(struct handle *ret_handle)
{
	const char *text = getenv("NCCL_COMM_ID");
	const char *port = text ? strchr(text, ':') : NULL;
	char host[16] = "";

	*ret_handle = (struct handle){.magic = FIXED_MAGIC};
	if (!port || (size_t) (port - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t) (port - text));
	ret_handle->address.sin_family = AF_INET;
	ret_handle->address.sin_port = htons((uint16_t) atoi(port + 1));
	return inet_pton(AF_INET, host, &ret_handle->address.sin_addr) == 1;
}

int mini_bootstrap_create_root(ncclUniqueId *ret_id)
{
	struct handle handle;
	uint64_t magic;

	if (fixed_handle(&handle)) {
		memset(ret_id, 0, sizeof(*ret_id));
		memcpy(ret_id->internal, &handle, sizeof(handle));
		return 0;
	}
	if (getrandom(&magic, sizeof(magic), 0) < 0)
		magic = (uint64_t) getpid();
	return mini_bootstrap_create_join_root(ret_id, magic, 0);
}

static struct handle handle_of(const ncclUniqueId *id)
{
	struct handle handle;

	memcpy(&handle, id->internal, sizeof(handle));
	return handle;
}

/*
 * NCCL has a new root for each communicator, to which a rank may come too early and
 * find the one before it.  One root for all is as good, and not left to chance.
 */
int mini_bootstrap_serve(const ncclUniqueId *id)
{
	static atomic_bool is_served;
	struct root *root;
	int err;

	if (handle_of(id).magic != FIXED_MAGIC || atomic_exchange(&is_served, true))
		return 0;
	root = calloc(1, sizeof(*root));
	if (!root)
		return -ENOMEM;
	root->handle = handle_of(id);
	root->is_lasting = true;
	root->listen_fd = mini_socket_listen_at(&root->handle.address);
	if (root->listen_fd >= 0)
		return start_root(root);
	err = root->listen_fd;
	free(root);
	return err;
}

uint64_t mini_bootstrap_magic(const ncclUniqueId *id)
{
	return handle_of(id).magic;
}

int mini_bootstrap_joined(const ncclUniqueId *id)
{
	return handle_of(id).nranks;
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

void mini_bootstrap_prepare(struct mini_bootstrap *bootstrap)
{
	bootstrap->listen_fd = -1;
	bootstrap->next_fd = -1;
	bootstrap->previous_fd = -1;
	pthread_mutex_init(&bootstrap->lock, NULL);
}

int mini_bootstrap_open(struct mini_bootstrap *bootstrap, uint64_t magic, int rank,
			int nranks, const atomic_bool *aborted)
{
	bootstrap->magic = magic;
	bootstrap->rank = rank;
	bootstrap->nranks = nranks;
	bootstrap->aborted = aborted;
	bootstrap->listen_fd = mini_socket_listen(&bootstrap->address);
	return bootstrap->listen_fd < 0 ? bootstrap->listen_fd : 0;
}

/* Tells a root the own address; waits for that of the successor if it is wanted. */
static int check_in(const struct mini_bootstrap *bootstrap, const ncclUniqueId *id,
		    struct check_in in, struct sockaddr_in *ret_next)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct handle handle = handle_of(id);
	int err;
	int fd;

	in.address = bootstrap->address;
	/* Where the environment said, the root may not be there yet. */
	while ((fd = mini_socket_connect(&handle.address, handle.magic,
					 MINI_SOCKET_BOOTSTRAP, bootstrap->aborted)) ==
		       -ECONNREFUSED &&
	       handle.magic == FIXED_MAGIC && !atomic_load(bootstrap->aborted))
		nanosleep(&pause, NULL);
	if (fd < 0)
		return fd;
	err = mini_socket_send(fd, &in, sizeof(in), bootstrap->aborted);
	if (!err && ret_next)
		err = mini_socket_recv(fd, ret_next, sizeof(*ret_next),
				       bootstrap->aborted);
	close(fd);
	return err;
}

int mini_bootstrap_check_in(const struct mini_bootstrap *bootstrap,
			    const ncclUniqueId *id, int position, int count,
			    struct sockaddr_in *ret_next)
{
	struct check_in in = {.position = position, .count = count};

	return check_in(bootstrap, id, in, ret_next);
}

/* The roots share the ranks evenly; the first ones have one more where it must be. */
static int first_of_root(int root, int nranks, int roots)
{
	int more = nranks % roots;

	return root * (nranks / roots) + (root < more ? root : more);
}

int mini_bootstrap_meet(struct mini_bootstrap *bootstrap, const ncclUniqueId *ids,
			int id_count)
{
	int n = bootstrap->nranks;
	int root = id_count - 1;
	struct check_in in = {.is_ring = id_count == 1};
	struct sockaddr_in next;
	int first;
	int err = 0;

	bootstrap->magic = handle_of(&ids[0]).magic;
	while (first_of_root(root, n, id_count) > bootstrap->rank)
		root--;
	first = first_of_root(root, n, id_count);
	if (first == bootstrap->rank && !in.is_ring) {
		int before = (root + id_count - 1) % id_count;
		int count = first_of_root(before + 1, n, id_count) -
			    first_of_root(before, n, id_count);

		err = mini_bootstrap_check_in(bootstrap, &ids[before], count, count,
					      NULL);
	}
	in.count = first_of_root(root + 1, n, id_count) - first;
	in.position = bootstrap->rank - first;
	if (!err)
		err = check_in(bootstrap, &ids[root], in, &next);
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

int mini_bootstrap_send(const struct mini_bootstrap *bootstrap,
			const struct sockaddr_in *to, uint64_t tag, const void *data,
			size_t size)
{
	struct label label = {bootstrap->rank, (uint32_t) size, tag};
	int fd = mini_socket_connect(to, bootstrap->magic, MINI_SOCKET_BOOTSTRAP,
				     bootstrap->aborted);
	int err;

	if (fd < 0)
		return fd;
	err = mini_socket_send(fd, &label, sizeof(label), bootstrap->aborted);
	if (!err)
		err = mini_socket_send(fd, data, size, bootstrap->aborted);
	close(fd);
	return err;
}

/* NULL when it is not there yet.  Called with the lock held. */
static struct mini_parcel *take_parcel(struct mini_bootstrap *bootstrap, int from,
				       uint64_t tag, size_t size)
{
	struct mini_parcel **place = &bootstrap->parcels;
	struct mini_parcel *parcel;

	for (; *place; place = &(*place)->next) {
		parcel = *place;
		if ((from >= 0 && parcel->label.from != from) ||
		    parcel->label.tag != tag || parcel->label.size != size)
			continue;
		*place = parcel->next;
		return parcel;
	}
	return NULL;
}

/* Called with the lock held. */
static int accept_parcel(struct mini_bootstrap *bootstrap)
{
	struct mini_parcel **place = &bootstrap->parcels;
	struct mini_parcel *parcel = NULL;
	struct label label;
	int err;
	int fd;

	fd = mini_socket_accept(bootstrap->listen_fd, bootstrap->magic,
				MINI_SOCKET_BOOTSTRAP, bootstrap->aborted);
	if (fd < 0)
		return fd;
	err = mini_socket_recv(fd, &label, sizeof(label), bootstrap->aborted);
	if (!err)
		parcel = malloc(sizeof(*parcel) + label.size);
	if (!err && !parcel)
		err = -ENOMEM;
	if (!err)
		err = mini_socket_recv(fd, parcel->data, label.size, bootstrap->aborted);
	close(fd);
	if (err) {
		free(parcel);
		return err;
	}
	parcel->label = label;
	parcel->next = NULL;
	while (*place)
		place = &(*place)->next;
	*place = parcel;
	return 0;
}

int mini_bootstrap_receive(struct mini_bootstrap *bootstrap, int from, uint64_t tag,
			   void *data, size_t size)
{
	struct mini_parcel *parcel;
	int err = 0;

	pthread_mutex_lock(&bootstrap->lock);
	parcel = take_parcel(bootstrap, from, tag, size);
	while (!parcel && !err) {
		err = accept_parcel(bootstrap);
		parcel = take_parcel(bootstrap, from, tag, size);
	}
	pthread_mutex_unlock(&bootstrap->lock);
	if (!parcel)
		return err;
	memcpy(data, parcel->data, size);
	free(parcel);
	return 0;
}

void mini_bootstrap_close(struct mini_bootstrap *bootstrap)
{
	int fds[] = {bootstrap->listen_fd, bootstrap->next_fd, bootstrap->previous_fd};
	struct mini_parcel *parcel;
	int i;

	for (i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	while (bootstrap->parcels) {
		parcel = bootstrap->parcels;
		bootstrap->parcels = parcel->next;
		free(parcel);
	}
	pthread_mutex_destroy(&bootstrap->lock);
}
