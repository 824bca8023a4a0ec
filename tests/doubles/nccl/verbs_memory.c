/* SPDX-License-Identifier: MIT */
/* Addresses of adapters, and the regions that are registered with them. */
#include "verbs.h"

#include "release.h"
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * RoCE: the first one made of an IPv4 address, as NCCL prefers it by default; it also
 * reads from sysfs which version of RoCE each is for.
 */
static int gid_index(const struct mini_ib_device *device)
{
	int index = (int) mini_number_or(SET_NCCL_IB_GID_INDEX,
					 mini_release() < 22100 ? 0 : -1);
	union ibv_gid gid;

	if (device->attr.link_layer == IBV_LINK_LAYER_INFINIBAND)
		return 0;
	if (index >= 0)
		return index;
	for (index = 0; index < device->attr.gid_tbl_len; index++) {
		static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

		if (!mini_verbs.query_gid(device->context, device->port, index, &gid) &&
		    memcmp(gid.raw, mapped, sizeof(mapped)) == 0)
			return index;
	}
	return 0;
}

int mini_ib_find_gid(struct mini_ib_side *side)
{
	side->gid_index = gid_index(side->device);
	return -mini_verbs.query_gid(side->device->context, side->device->port,
				     side->gid_index, &side->gid);
}

int mini_ib_reg_own(const struct mini_ib_side *side, void *data, size_t size,
		    unsigned int access, struct ibv_mr **ret_mr)
{
	*ret_mr = mini_verbs.reg_mr(side->pd, data, size, (int) access);
	return *ret_mr ? 0 : -errno;
}

int mini_ib_reg_flush(struct mini_net_connection *connection, int s)
{
	return mini_ib_reg_own(&connection->sides[s], &connection->flush_word,
			       sizeof(connection->flush_word), IBV_ACCESS_LOCAL_WRITE,
			       &connection->sides[s].flush_mr);
}

/* NCCL 2.28.9: 1938-1985; with a libibverbs that can, in relaxed order. */
static struct ibv_mr *reg_pages(struct ibv_pd *pd, uintptr_t address, size_t size)
{
	unsigned int access = MINI_IB_OF_PEERS;
	void *data = (void *) address;

	if (mini_ib_rules()->has_atomics)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	if (mini_verbs.reg_mr_iova2 && mini_number(SET_NCCL_IB_PCI_RELAXED_ORDERING))
		return mini_verbs.reg_mr_iova2(pd, data, size, address,
					       access | IBV_ACCESS_RELAXED_ORDERING);
	return mini_verbs.reg_mr(pd, data, size, (int) access);
}

static struct mini_ib_cached *add_pages(struct mini_ib_device *device, int place)
{
	struct mini_ib_cached *cache =
		reallocarray(device->cache, (size_t) device->cached + 1,
			     sizeof(*device->cache));

	if (!cache)
		return NULL;
	device->cache = cache;
	memmove(&cache[place + 1], &cache[place],
		(size_t) (device->cached - place) * sizeof(*cache));
	device->cached++;
	return &cache[place];
}

/*
 * In the order of addresses, and one that covers it is used again; up to 2.19 in that of
 * their registration, and only the same is used (NCCL 2.19.4, transport/net_ib.cc:962).
 */
static int reg_with(struct mini_ib_device *device, struct ibv_pd *pd, void *data,
		    size_t size, struct ibv_mr **ret_mr)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	uintptr_t address = (uintptr_t) data & ~(uintptr_t) (page - 1);
	size_t pages = ((uintptr_t) data + size - address + page - 1) / page;
	struct mini_ib_cached *place = device->cache;
	bool is_sorted = mini_release() >= 22000;
	int i;

	for (i = 0; i < device->cached; i++) {
		place = &device->cache[i];
		if (is_sorted && address < place->address)
			break;
		if (is_sorted ? (address - place->address) / page + pages <= place->pages
			      : address == place->address && pages == place->pages) {
			place->users++;
			*ret_mr = place->mr;
			return 0;
		}
	}
	*ret_mr = reg_pages(pd, address, pages * page);
	if (!*ret_mr)
		return -errno;
	place = add_pages(device, i);
	if (!place) {
		mini_verbs.dereg_mr(*ret_mr);
		return -ENOMEM;
	}
	*place = (struct mini_ib_cached){address, pages, 1, *ret_mr};
	return 0;
}

/*
 * NCCL puts the last one in its place and forgets the order (2.28.9: 2033), so that what
 * is there may be registered again.
 */
static void dereg_with(struct mini_ib_device *device, struct ibv_mr *mr)
{
	int i = 0;

	while (i < device->cached && device->cache[i].mr != mr)
		i++;
	if (i == device->cached || --device->cache[i].users > 0)
		return;
	mini_verbs.dereg_mr(mr);
	device->cache[i] = device->cache[--device->cached];
	if (device->cached == 0) {
		free(device->cache);
		device->cache = NULL;
	}
}

int mini_ib_reg(struct mini_net_connection *connection, void *data, size_t size,
		struct mini_net_region **ret_region)
{
	struct mini_net_region *region = calloc(1, sizeof(*region));
	int err = 0;
	int i;

	if (!region)
		return -ENOMEM;
	for (i = 0; i < connection->side_count && !err; i++) {
		struct mini_ib_side *side = &connection->sides[i];

		pthread_mutex_lock(&side->device->lock);
		err = reg_with(side->device, side->pd, data, size, &region->mrs[i]);
		pthread_mutex_unlock(&side->device->lock);
	}
	if (err) {
		region->mrs[i - 1] = NULL;
		mini_ib_dereg(connection, region);
		return err;
	}
	*ret_region = region;
	return 0;
}

int mini_ib_dereg(struct mini_net_connection *connection, struct mini_net_region *region)
{
	int i;

	for (i = 0; i < connection->side_count && region->mrs[i]; i++) {
		struct mini_ib_device *device = connection->sides[i].device;

		pthread_mutex_lock(&device->lock);
		dereg_with(device, region->mrs[i]);
		pthread_mutex_unlock(&device->lock);
	}
	free(region);
	return 0;
}
