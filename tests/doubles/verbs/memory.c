/* SPDX-License-Identifier: MIT */
/*
 * Protection domains and memory regions, and the checks that an adapter makes before it
 * touches memory: key, domain, range, access.
 */
#include "soft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct soft_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->base.context = context;
	pd->base.handle = soft_new_handle();
	return &pd->base;
}

int ibv_dealloc_pd(struct ibv_pd *base)
{
	struct soft_pd *pd = soft_pd(base);
	int users;

	pthread_mutex_lock(&soft_lock);
	users = pd->users;
	pthread_mutex_unlock(&soft_lock);
	if (users)
		return EBUSY;
	free(pd);
	return 0;
}

/* The kernel pins each page, so all of them must be there: EFAULT of
 * a range that is not mapped. */
static bool is_mapped(const void *address, size_t length)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t) address & ~(page - 1);
	uintptr_t end = (uintptr_t) address + length;
	unsigned char resident[1024];

	while (at < end) {
		size_t bytes = end - at;

		if (bytes > page * sizeof(resident))
			bytes = page * sizeof(resident);
		if (mincore((void *) at, bytes, resident))
			return false;
		at += bytes;
	}
	return true;
}

static int check_region(const void *address, size_t length, unsigned int access)
{
	unsigned int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	/* ibv_reg_mr(3): remote write or atomic needs local write. */
	if ((access & writes) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (!length || (uintptr_t) address + length < (uintptr_t) address)
		return EINVAL;
	/* No paging on demand. */
	if (access & IBV_ACCESS_ON_DEMAND)
		return EOPNOTSUPP;
	return is_mapped(address, length) ? 0 : EFAULT;
}

/* A key is an index and a count, so that an old key of the same place is a wrong one. */
static int add_region(struct soft_context *context, struct soft_mr *mr)
{
	uint32_t index;
	struct soft_mr **mrs;

	for (index = 1; index < context->mr_count && context->mrs[index]; index++)
		;
	if (index >= context->mr_count) {
		uint32_t count = context->mr_count ? context->mr_count * 2 : 64;

		mrs = realloc(context->mrs, count * sizeof(struct soft_mr *));
		if (!mrs)
			return ENOMEM;
		memset(mrs + context->mr_count, 0,
		       (count - context->mr_count) * sizeof(struct soft_mr *));
		context->mrs = mrs;
		if (!context->mr_count)
			index = 1;
		context->mr_count = count;
	}
	context->mrs[index] = mr;
	mr->base.lkey = index << 8 | (++context->mr_generation & 0xff);
	mr->base.rkey = mr->base.lkey;
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
				uint64_t iova, unsigned int access)
{
	struct soft_mr *mr;
	int err;

	err = check_region(address, length, access);
	if (err) {
		errno = err;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->base.context = pd->context;
	mr->base.pd = pd;
	mr->base.addr = address;
	mr->base.length = length;
	mr->base.handle = soft_new_handle();
	mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	mr->access = access;
	pthread_mutex_lock(&soft_lock);
	err = add_region(soft_context(pd->context), mr);
	if (!err)
		soft_pd(pd)->users++;
	pthread_mutex_unlock(&soft_lock);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->base;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length,
			       uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned int) access);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, (uintptr_t) address,
				(unsigned int) access);
}

/* As a kernel whose driver does not know dma-bufs. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				 uint64_t iova, int fd, int access)
{
	(void) pd;
	(void) offset;
	(void) length;
	(void) iova;
	(void) fd;
	(void) access;
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_rereg_mr(struct ibv_mr *base, int flags, struct ibv_pd *pd, void *address,
		 size_t length, int access)
{
	struct soft_mr *mr = (struct soft_mr *) base;
	bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	unsigned int new_access =
		flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned int) access : mr->access;

	if (!flags || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) ||
	    ((flags & IBV_REREG_MR_CHANGE_PD) && !pd) ||
	    check_region(moves ? address : base->addr, moves ? length : base->length,
			 new_access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	pthread_mutex_lock(&soft_lock);
	if (moves) {
		base->addr = address;
		base->length = length;
		mr->iova = (uintptr_t) address;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		soft_pd(base->pd)->users--;
		base->pd = pd;
		soft_pd(pd)->users++;
	}
	mr->access = new_access;
	pthread_mutex_unlock(&soft_lock);
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *base)
{
	struct soft_context *context = soft_context(base->context);

	pthread_mutex_lock(&soft_lock);
	context->mrs[base->lkey >> 8] = NULL;
	soft_pd(base->pd)->users--;
	pthread_mutex_unlock(&soft_lock);
	free(base);
	return 0;
}

/* ibv_alloc_null_mr(3): it reads as zeros, and what is written to it is gone. */
static char zeros[SOFT_MAX_NULL];
static char nowhere[SOFT_MAX_NULL];

struct ibv_mr *soft_alloc_null_mr(struct ibv_pd *pd)
{
	struct soft_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return NULL;
	mr->base.context = pd->context;
	mr->base.pd = pd;
	mr->base.length = SIZE_MAX;
	mr->base.handle = soft_new_handle();
	mr->access = IBV_ACCESS_LOCAL_WRITE;
	mr->is_null = true;
	pthread_mutex_lock(&soft_lock);
	err = add_region(soft_context(pd->context), mr);
	if (!err)
		soft_pd(pd)->users++;
	pthread_mutex_unlock(&soft_lock);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->base;
}

/* ibv_alloc_mw(3) */
struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct soft_mw *mw = type == IBV_MW_TYPE_2 ? calloc(1, sizeof(*mw)) : NULL;
	int err;

	if (!mw) {
		errno = type == IBV_MW_TYPE_2 ? ENOMEM : EOPNOTSUPP;
		return NULL;
	}
	mw->window.base.pd = pd;
	mw->window.is_window = true;
	pthread_mutex_lock(&soft_lock);
	err = add_region(soft_context(pd->context), &mw->window);
	if (!err)
		soft_pd(pd)->users++;
	pthread_mutex_unlock(&soft_lock);
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	mw->base.context = pd->context;
	mw->base.pd = pd;
	mw->base.type = type;
	mw->base.rkey = mw->window.base.rkey;
	mw->base.handle = soft_new_handle();
	return &mw->base;
}

int soft_dealloc_mw(struct ibv_mw *base)
{
	struct soft_mw *mw = (struct soft_mw *) base;

	pthread_mutex_lock(&soft_lock);
	soft_context(base->context)->mrs[mw->window.base.lkey >> 8] = NULL;
	soft_pd(base->pd)->users--;
	pthread_mutex_unlock(&soft_lock);
	free(mw);
	return 0;
}

int soft_bind(struct ibv_pd *pd, struct ibv_mw *base, uint32_t rkey,
	      const struct ibv_mw_bind_info *bind)
{
	struct soft_mr *window = &((struct soft_mw *) base)->window;
	struct soft_mr *mr = (struct soft_mr *) bind->mr;

	/* The low eight bits are the program's: ibv_inc_rkey(3). */
	if (base->pd != pd || mr->base.pd != pd || rkey >> 8 != window->base.lkey >> 8 ||
	    window->access || !(mr->access & IBV_ACCESS_MW_BIND) ||
	    bind->addr < mr->iova || bind->length > mr->base.length ||
	    bind->addr - mr->iova > mr->base.length - bind->length)
		return -EINVAL;
	window->base.lkey = rkey;
	window->base.rkey = rkey;
	window->base.addr = (char *) mr->base.addr + (bind->addr - mr->iova);
	window->base.length = bind->length;
	window->iova = bind->mw_access_flags & IBV_ACCESS_ZERO_BASED ? 0 : bind->addr;
	window->access = bind->mw_access_flags;
	base->rkey = rkey;
	return 0;
}

int soft_invalidate(struct ibv_pd *pd, uint32_t rkey)
{
	struct soft_context *context = soft_context(pd->context);
	struct soft_mr *mr =
		rkey >> 8 < context->mr_count ? context->mrs[rkey >> 8] : NULL;

	if (!mr || !mr->is_window || mr->base.pd != pd || mr->base.lkey != rkey ||
	    !mr->access)
		return -EINVAL;
	mr->access = 0;
	return 0;
}

char *soft_memory(struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t size,
		  unsigned int access)
{
	struct soft_context *context = soft_context(pd->context);
	struct soft_mr *mr = NULL;

	if (key >> 8 < context->mr_count)
		mr = context->mrs[key >> 8];
	if (!mr || mr->base.lkey != key || mr->base.pd != pd)
		return NULL;
	if (mr->is_null && size <= SOFT_MAX_NULL && (mr->access & access) == access)
		return access ? nowhere : zeros;
	if (mr->is_null || (mr->is_window && !access) ||
	    (mr->access & access) != access || address < mr->iova ||
	    size > mr->base.length || address - mr->iova > mr->base.length - size)
		return NULL;
	return (char *) mr->base.addr + (address - mr->iova);
}

int soft_spans(struct ibv_pd *pd, const struct ibv_sge *sges, int num_sge,
	       unsigned int access, struct soft_span *spans)
{
	int count = 0;
	int i;

	for (i = 0; i < num_sge; i++) {
		/* Nothing is looked up for no bytes. */
		if (!sges[i].length)
			continue;
		spans[count].data = soft_memory(pd, sges[i].lkey, sges[i].addr,
						sges[i].length, access);
		spans[count].size = sges[i].length;
		if (!spans[count++].data)
			return -EINVAL;
	}
	return count;
}

size_t soft_span_bytes(const struct soft_span *spans, int count)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < count; i++)
		bytes += spans[i].size;
	return bytes;
}

/*
 * An adapter writes into memory that the program may look at meanwhile, so which of them
 * is first is for nobody to check but the program.
 */
#ifdef __SANITIZE_THREAD__
#define unwatched __attribute__((no_sanitize("thread")))
#define IN_ORDER SIZE_MAX
#else
#define unwatched
/* More than the longest of NCCL's lists of what may be sent. */
#define IN_ORDER 1024
#endif

/*
 * What is short is there from its beginning on, as an adapter writes it and memmove() does
 * not: NCCL's sender takes an entry of its list for whole when it sees the last word.
 */
unwatched static void move_up(char *to, const char *from, size_t bytes)
{
	volatile char *out = to;
	const volatile char *in = from;
	bool has_words = (uintptr_t) to % sizeof(uint64_t) == 0;
	uint64_t word;
	size_t i = 0;

	for (; has_words && i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, from + i, sizeof(word));
		__atomic_store_n((uint64_t *) (void *) (to + i), word, __ATOMIC_RELEASE);
	}
	for (; i < bytes; i++)
		out[i] = in[i];
}

unwatched static void move_down(char *to, const char *from, size_t bytes)
{
	volatile char *out = to;
	const volatile char *in = from;

	while (bytes-- > 0)
		out[bytes] = in[bytes];
}

/* A region may be sent to itself. */
static void move(char *to, const char *from, size_t bytes)
{
	if (bytes > IN_ORDER)
		memmove(to, from, bytes);
	else if (to > from && to < from + bytes)
		move_down(to, from, bytes);
	else
		move_up(to, from, bytes);
}

void soft_copy(struct soft_span *to, int num_to, const struct soft_span *from,
	       int num_from)
{
	size_t used = 0;
	size_t filled = 0;

	while (num_to && num_from) {
		size_t bytes = to->size - filled;

		if (bytes > from->size - used)
			bytes = from->size - used;
		move(to->data + filled, from->data + used, bytes);
		filled += bytes;
		used += bytes;
		if (filled == to->size) {
			to++;
			num_to--;
			filled = 0;
		}
		if (used == from->size) {
			from++;
			num_from--;
			used = 0;
		}
	}
}
