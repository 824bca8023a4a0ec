/* SPDX-License-Identifier: MIT */
/*
 * Addresses of adapters, and back.  GIDs are as a RoCE adapter's: index 0 is link-local,
 * made of the GUID, index 1 the IPv4 address of its interface (10.77.host.device + 1, and
 * 16 more for each further port); on InfiniBand only the first exists, and a LID.  A
 * queue pair number names the slot of its context in its upper bits; two adapters hand
 * out equal numbers, as real ones do.
 */
#include "soft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* In the order of the host; locally administered, so that it is nobody's. */
uint64_t soft_guid(unsigned int host, unsigned int device)
{
	return 0x0200c0fffe000000 | (uint64_t) host << 8 | device;
}

bool soft_is_port(unsigned int port)
{
	return port >= 1 && port <= soft_settings()->ports;
}

/* Not 0, which is reserved, nor 0xc000 and above, which are multicast. */
uint16_t soft_lid(const struct soft_place *place)
{
	return (uint16_t) (((place->port - 1) * SOFT_HOSTS + place->host) *
				   SOFT_MAX_DEVICES +
			   place->device + 1);
}

void soft_gid(const struct soft_place *place, int index, union ibv_gid *gid)
{
	uint64_t guid = soft_guid(place->host, place->device) |
			(uint64_t) (place->port - 1) << 16;
	uint8_t address[] = {10, 77, (uint8_t) place->host,
			     (uint8_t) (place->device + 1 +
					SOFT_MAX_DEVICES * (place->port - 1))};
	int i;

	memset(gid, 0, sizeof(*gid));
	if (index == 0) {
		gid->raw[0] = 0xfe;
		gid->raw[1] = 0x80;
		for (i = 0; i < 8; i++)
			gid->raw[8 + i] = (uint8_t) (guid >> (56 - 8 * i));
	} else if (index == 1 && !soft_settings()->is_infiniband) {
		gid->raw[10] = 0xff;
		gid->raw[11] = 0xff;
		memcpy(gid->raw + 12, address, sizeof(address));
	}
}

int soft_gid_index(const struct soft_place *place, const union ibv_gid *gid)
{
	union ibv_gid own;
	int i;

	for (i = 0; i < SOFT_GIDS; i++) {
		soft_gid(place, i, &own);
		if (!memcmp(&own, gid, sizeof(own)))
			return i;
	}
	return -1;
}

int soft_resolve(const struct ibv_ah_attr *attr, uint32_t qpn, struct soft_place *place)
{
	const uint8_t *raw = attr->grh.dgid.raw;
	bool is_infiniband = soft_settings()->is_infiniband;

	/* Where there are no LIDs a GID must be given, as the kernel's RoCE has it. */
	if (!attr->is_global && !is_infiniband)
		return -EINVAL;
	place->slot = (uint16_t) (qpn >> 16);
	if (is_infiniband) {
		/* A switch looks at the LID alone. */
		if (!attr->dlid)
			return -EINVAL;
		place->device = (attr->dlid - 1) % SOFT_MAX_DEVICES;
		place->host = (attr->dlid - 1) / SOFT_MAX_DEVICES % SOFT_HOSTS;
		place->port = (attr->dlid - 1) / SOFT_MAX_DEVICES / SOFT_HOSTS + 1;
	} else if (raw[0] == 0xfe && raw[1] == 0x80) {
		place->port = raw[13] + 1;
		place->host = raw[14];
		place->device = raw[15];
	} else if (raw[10] == 0xff && raw[11] == 0xff) {
		place->host = raw[14];
		place->device = (raw[15] - 1) % SOFT_MAX_DEVICES;
		place->port = (raw[15] - 1) / SOFT_MAX_DEVICES + 1;
	} else {
		return -EINVAL;
	}
	return 0;
}

bool soft_same_place(const struct soft_place *one, const struct soft_place *other)
{
	return one->host == other->host && one->device == other->device &&
	       one->slot == other->slot;
}
