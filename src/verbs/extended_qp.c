/* SPDX-License-Identifier: MIT */
/*
 * Posts of the extended interface: the program builds each request by a few calls and
 * posts a batch of them by wr_complete.
 *
 * The provider lets one thread at a time in between wr_start and wr_complete, so the
 * tracer gathers requests there without a lock.  It emits them after wr_complete has
 * returned, when another thread may be building the next batch: so a batch that is
 * recorded keeps a room of its own until then.  The tracer never follows the addresses in
 * a request.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs/extended.h"
#include "verbs/post.h"
#include "verbs/entry_point.h"

/* A batch holds at most as many requests as the queue has places. */
#define MAX_REQUESTS 1024
#define SGES_PER_REQUEST 2
/* One batch that is being built, and others whose threads are still emitting them. */
#define NR_ROOMS 4

/* clang-format off */
#define FIRST_OPS(X) \
	X(wr_atomic_cmp_swp) X(wr_atomic_fetch_add) X(wr_bind_mw) X(wr_local_inv) \
	X(wr_rdma_read) X(wr_rdma_write) X(wr_rdma_write_imm) \
	X(wr_send) X(wr_send_imm) X(wr_send_inv) X(wr_send_tso) \
	X(wr_set_ud_addr) X(wr_set_xrc_srqn) \
	X(wr_set_inline_data) X(wr_set_inline_data_list) X(wr_set_sge) X(wr_set_sge_list) \
	X(wr_start) X(wr_complete) X(wr_abort)
/* These came with later releases: an object has them when the program asked for them. */
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_ATOMIC_WRITE
#define OP_ATOMIC_WRITE(X) X(wr_atomic_write, IBV_QP_EX_WITH_ATOMIC_WRITE)
#else
#define OP_ATOMIC_WRITE(X)
#endif
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_FLUSH
#define OP_FLUSH(X) X(wr_flush, IBV_QP_EX_WITH_FLUSH)
#else
#define OP_FLUSH(X)
#endif
#define LATER_OPS(X) OP_ATOMIC_WRITE(X) OP_FLUSH(X)

#define FLAG(op, flag) | (uint64_t) flag
#define KNOWN_OPERATIONS (((uint64_t) IBV_QP_EX_WITH_TSO * 2 - 1) LATER_OPS(FLAG))

#define MEMBER(op, ...) __typeof__(((struct ibv_qp_ex *) NULL)->op) op;
struct real_ops {
	FIRST_OPS(MEMBER)
	LATER_OPS(MEMBER)
};
/* clang-format on */

/* The requests of a batch that is recorded, as a list for the classic interface. */
struct room {
	bool is_taken;
	uint32_t nr, nr_sges;
	struct ibv_send_wr *requests;
	struct ibv_sge *sges;
};

struct extended_qp {
	struct tap_object head;
	struct tap_qp *qp;
	uint64_t operations;
	struct real_ops real;
	/* Valid from wr_start to wr_complete. */
	bool is_open;
	bool has_no_room; /* though the batch was to be recorded */
	struct tap_sends built;
	uint64_t bytes; /* of a queue pair that is metered */
	uint64_t first_wr_id;
	struct room *room; /* NULL: the batch is only counted */

	uint32_t max_requests, max_sges;
	void *memory;
	size_t memory_size;
	struct room rooms[NR_ROOMS];
};

static struct tap_table extended = {.size = sizeof(struct extended_qp)};

static inline struct extended_qp *find(const struct ibv_qp_ex *ex)
{
	return tap_find(&extended, ex);
}

/* ---- Gathering a batch ---- */

static struct room *take_room(struct extended_qp *x)
{
	unsigned i;

	for (i = 0; x->memory && i < NR_ROOMS; i++)
		if (!__atomic_exchange_n(&x->rooms[i].is_taken, true, __ATOMIC_ACQUIRE))
			return &x->rooms[i];
	return NULL;
}

static void free_room(struct room *room)
{
	__atomic_store_n(&room->is_taken, false, __ATOMIC_RELEASE);
}

static void leave_room(struct extended_qp *x)
{
	if (x->room)
		free_room(x->room);
	x->room = NULL;
}

tap_cold static void out_of_room(struct extended_qp *x)
{
	leave_room(x);
	x->has_no_room = true;
}

tap_cold static struct ibv_send_wr *
keep_request(struct extended_qp *x, const struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct room *room = x->room;
	struct ibv_send_wr *wr;

	if (room->nr == x->max_requests) {
		out_of_room(x);
		return NULL;
	}
	wr = &room->requests[room->nr];
	*wr = (struct ibv_send_wr){.wr_id = ex->wr_id,
				   .opcode = opcode,
				   .send_flags = ex->wr_flags};
	if (room->nr++)
		wr[-1].next = wr;
	return wr;
}

/* Counts a new request.  Returns where its fields are kept, NULL if they are not. */
static inline struct ibv_send_wr *begin_request(struct extended_qp *x,
						const struct ibv_qp_ex *ex,
						enum ibv_wr_opcode opcode)
{
	if (unlikely(!x->is_open))
		return NULL;
	if (!x->built.nr)
		x->first_wr_id = ex->wr_id;
	tap_sends_add(&x->built, x->qp, opcode, ex->wr_flags);
	return unlikely(x->room) ? keep_request(x, ex, opcode) : NULL;
}

/* The request that a setter call changes. */
static inline struct ibv_send_wr *last_request(const struct extended_qp *x)
{
	return unlikely(x->room && x->room->nr) ? &x->room->requests[x->room->nr - 1]
						: NULL;
}

tap_cold static void keep_sges(struct extended_qp *x, struct ibv_send_wr *wr,
			       const struct ibv_sge *sges, size_t nr)
{
	struct room *room = x->room;

	if (nr > x->max_sges - room->nr_sges) {
		out_of_room(x);
		return;
	}
	wr->sg_list = &room->sges[room->nr_sges];
	wr->num_sge = (int) nr;
	memcpy(wr->sg_list, sges, nr * sizeof(*sges));
	room->nr_sges += (uint32_t) nr;
}

/* The event has inline data as one piece, whatever the number of buffers. */
tap_cold static void keep_inline(struct extended_qp *x, struct ibv_send_wr *wr,
				 const void *addr, size_t length)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t) addr,
		.length = length > UINT32_MAX ? UINT32_MAX : (uint32_t) length,
	};

	wr->send_flags |= IBV_SEND_INLINE;
	keep_sges(x, wr, &sge, 1);
}

/* ---- The functions in the object ---- */

/* clang-format off */
#define IN_REQUEST(op, request, nr_bytes, params, args, ...) \
	static void on_##op params \
	{ \
		struct extended_qp *x = find(qp); \
		struct ibv_send_wr *wr; \
\
		if (unlikely(!x)) \
			return; \
		if (unlikely(tap_metered(x->qp))) \
			x->bytes += nr_bytes; \
		wr = request; \
		if (unlikely(wr)) { \
			__VA_ARGS__; \
		} \
		x->real.op args; \
	}
#define BUILDER(op, number, params, args, ...) \
	IN_REQUEST(op, begin_request(x, qp, number), 0, params, args, __VA_ARGS__)
#define SETTER(op, nr_bytes, params, args, ...) \
	IN_REQUEST(op, last_request(x), nr_bytes, params, args, __VA_ARGS__)

BUILDER(wr_atomic_cmp_swp, IBV_WR_ATOMIC_CMP_AND_SWP,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
	 uint64_t swap),
	(qp, rkey, remote_addr, compare, swap),
	wr->wr.atomic.remote_addr = remote_addr; wr->wr.atomic.rkey = rkey)
BUILDER(wr_atomic_fetch_add, IBV_WR_ATOMIC_FETCH_AND_ADD,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add),
	(qp, rkey, remote_addr, add),
	wr->wr.atomic.remote_addr = remote_addr; wr->wr.atomic.rkey = rkey)
BUILDER(wr_bind_mw, IBV_WR_BIND_MW,
	(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
	 const struct ibv_mw_bind_info *bind_info),
	(qp, mw, rkey, bind_info), )
BUILDER(wr_local_inv, IBV_WR_LOCAL_INV,
	(struct ibv_qp_ex *qp, uint32_t invalidate_rkey), (qp, invalidate_rkey),
	wr->invalidate_rkey = invalidate_rkey)
BUILDER(wr_rdma_read, IBV_WR_RDMA_READ,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr), (qp, rkey, remote_addr),
	wr->wr.rdma.remote_addr = remote_addr; wr->wr.rdma.rkey = rkey)
BUILDER(wr_rdma_write, IBV_WR_RDMA_WRITE,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr), (qp, rkey, remote_addr),
	wr->wr.rdma.remote_addr = remote_addr; wr->wr.rdma.rkey = rkey)
BUILDER(wr_rdma_write_imm, IBV_WR_RDMA_WRITE_WITH_IMM,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data),
	(qp, rkey, remote_addr, imm_data),
	wr->wr.rdma.remote_addr = remote_addr; wr->wr.rdma.rkey = rkey;
	wr->imm_data = imm_data)
BUILDER(wr_send, IBV_WR_SEND, (struct ibv_qp_ex *qp), (qp), )
BUILDER(wr_send_imm, IBV_WR_SEND_WITH_IMM, (struct ibv_qp_ex *qp, __be32 imm_data),
	(qp, imm_data), wr->imm_data = imm_data)
BUILDER(wr_send_inv, IBV_WR_SEND_WITH_INV,
	(struct ibv_qp_ex *qp, uint32_t invalidate_rkey), (qp, invalidate_rkey),
	wr->invalidate_rkey = invalidate_rkey)
BUILDER(wr_send_tso, IBV_WR_TSO,
	(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss),
	(qp, hdr, hdr_sz, mss), )
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_ATOMIC_WRITE
IN_REQUEST(wr_atomic_write, begin_request(x, qp, IBV_WR_ATOMIC_WRITE), 8,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *atomic_wr),
	(qp, rkey, remote_addr, atomic_wr),
	wr->wr.rdma.remote_addr = remote_addr; wr->wr.rdma.rkey = rkey;
	keep_inline(x, wr, atomic_wr, 8))
#endif
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_FLUSH
BUILDER(wr_flush, IBV_WR_FLUSH,
	(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
	 uint8_t level),
	(qp, rkey, remote_addr, len, type, level),
	wr->wr.rdma.remote_addr = remote_addr; wr->wr.rdma.rkey = rkey)
#endif

SETTER(wr_set_ud_addr, 0,
	(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey),
	(qp, ah, remote_qpn, remote_qkey),
	wr->wr.ud.ah = ah; wr->wr.ud.remote_qpn = remote_qpn)
SETTER(wr_set_xrc_srqn, 0,
	(struct ibv_qp_ex *qp, uint32_t remote_srqn), (qp, remote_srqn),
	wr->qp_type.xrc.remote_srqn = remote_srqn)
SETTER(wr_set_inline_data, length,
	(struct ibv_qp_ex *qp, void *addr, size_t length),
	(qp, addr, length), keep_inline(x, wr, addr, length))
SETTER(wr_set_sge, length,
	(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length),
	(qp, lkey, addr, length),
	keep_sges(x, wr, &(struct ibv_sge){.addr = addr, .length = length, .lkey = lkey}, 1))
SETTER(wr_set_sge_list, tap_length_of(sg_list, (int) num_sge),
	(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list),
	(qp, num_sge, sg_list), keep_sges(x, wr, sg_list, num_sge))

static size_t length_of(const struct ibv_data_buf *buffers, size_t nr)
{
	size_t length = 0, i;

	for (i = 0; i < nr; i++)
		length += buffers[i].length;
	return length;
}

SETTER(wr_set_inline_data_list, length_of(buf_list, num_buf),
	(struct ibv_qp_ex *qp, size_t num_buf, const struct ibv_data_buf *buf_list),
	(qp, num_buf, buf_list),
	keep_inline(x, wr, num_buf ? buf_list->addr : NULL, length_of(buf_list, num_buf)))
/* clang-format on */

/* The kind of a batch is not known when it begins, so any wanted event counts. */
static inline bool is_recorded(const struct tap_qp *q)
{
	if (unlikely(q->is_ud))
		return tap_verbs_wants(TAP_VERBS_post_datagram) ||
		       tap_verbs_wants(TAP_VERBS_post_datagram_list);
	return tap_verbs_wants(TAP_VERBS_post_send) ||
	       tap_verbs_wants(TAP_VERBS_post_send_list) ||
	       tap_verbs_wants(TAP_VERBS_post_rdma) ||
	       tap_verbs_wants(TAP_VERBS_post_rdma_list);
}

static void on_wr_start(struct ibv_qp_ex *qp)
{
	struct extended_qp *x = find(qp);

	if (unlikely(!x))
		return;
	x->real.wr_start(qp);
	/* A batch that the program never completed counts as aborted. */
	leave_room(x);
	x->built = (struct tap_sends){0};
	x->bytes = 0;
	x->is_open = true;
	x->has_no_room = false;
	if (unlikely(is_recorded(x->qp))) {
		x->room = take_room(x);
		x->has_no_room = !x->room;
		if (x->room)
			x->room->nr = x->room->nr_sges = 0;
	}
}

static void on_wr_abort(struct ibv_qp_ex *qp)
{
	struct extended_qp *x = find(qp);

	if (unlikely(!x))
		return;
	leave_room(x);
	x->is_open = false;
	x->real.wr_abort(qp);
}

/* Posts the batch like a list: the provider accepts all of it or nothing. */
static int post_batch(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_qp_ex *ex = (struct ibv_qp_ex *) qp;
	const int ret = find(ex)->real.wr_complete(ex);

	if (ret)
		*bad = wr;
	return ret;
}

tap_cold static int complete_recorded(struct tap_qp *q, struct ibv_qp_ex *ex,
				      struct room *room)
{
	struct ibv_send_wr *bad;
	const int ret = tap_post_sends(q, post_batch, &ex->qp_base, room->requests, &bad);

	free_room(room);
	return ret;
}

tap_cold static void emit_not_recorded(uint32_t nr)
{
	const struct tap_guard guard = tap_guard_set();

	tap_problem("not recorded", "requests of a batch that there was no room for", nr);
	tap_guard_clear(guard);
}

static int on_wr_complete(struct ibv_qp_ex *qp)
{
	struct extended_qp *x = find(qp);
	struct tap_sends built, first;
	struct tap_visit visit;
	struct tap_qp *q;
	uint64_t first_wr_id, bytes;
	bool has_no_room;
	int ret;

	if (unlikely(!x))
		return EINVAL;
	if (unlikely(!x->is_open || !x->built.nr)) {
		leave_room(x);
		x->is_open = false;
		return x->real.wr_complete(qp);
	}
	/* The next batch may begin before the call returns. */
	q = x->qp;
	built = x->built;
	first_wr_id = x->first_wr_id;
	bytes = x->bytes;
	has_no_room = x->has_no_room;
	x->is_open = false;
	if (unlikely(x->room)) {
		struct room *room = x->room;

		x->room = NULL;
		return complete_recorded(q, qp, room);
	}
	visit = tap_owner_counter_begin(&q->send_counter);
	tap_metered_begin_in(&visit, q, built.signaled);
	ret = x->real.wr_complete(qp);
	if (unlikely(ret)) {
		if (tap_metered(q))
			tap_metered_refused(q, 0);
		tap_owner_counter_pass(&q->send_counter, &visit);
		tap_emit_failed(&q->head, NULL, false, ret, 0, first_wr_id);
		return ret;
	}
	tap_sends_accepted(q, &visit, &built, bytes, &first);
	if (unlikely(has_no_room))
		emit_not_recorded(built.nr);
	return ret;
}

/* ---- Patching the object ---- */

/*
 * The tracer leaves a function of the program's own in place: it may call the tracer's.
 */
static bool is_providers(const struct tap_qp *q, void *function)
{
	Dl_info its, providers;

	return dladdr(function, &its) && dladdr((void *) q->post_send, &providers) &&
	       its.dli_fbase == providers.dli_fbase;
}

/* clang-format off */
static void patch(struct extended_qp *x, struct ibv_qp_ex *ex, bool is_new)
{
#define PATCH(op) \
	if (ex->op && ex->op != on_##op && \
	    (is_new || is_providers(x->qp, (void *) ex->op))) { \
		x->real.op = ex->op; \
		ex->op = on_##op; \
	}
#define PATCH_LATER(op, flag) if (x->operations & flag) { PATCH(op) }
	FIRST_OPS(PATCH)
	LATER_OPS(PATCH_LATER)
}

static void put_back(const struct extended_qp *x, struct ibv_qp_ex *ex)
{
#define PUT_BACK(op) \
	if (ex->op == on_##op) \
		ex->op = x->real.op;
#define PUT_BACK_LATER(op, flag) if (x->operations & flag) { PUT_BACK(op) }
	FIRST_OPS(PUT_BACK)
	LATER_OPS(PUT_BACK_LATER)
}
/* clang-format on */

static void make_rooms(struct extended_qp *x, const struct ibv_qp_cap *cap)
{
	size_t requests, sges;
	char *at;
	unsigned i;

	x->max_requests =
		cap->max_send_wr < MAX_REQUESTS ? cap->max_send_wr : MAX_REQUESTS;
	x->max_sges = x->max_requests * SGES_PER_REQUEST;
	if (x->max_sges < cap->max_send_sge)
		x->max_sges = cap->max_send_sge;
	requests = x->max_requests * sizeof(struct ibv_send_wr);
	sges = x->max_sges * sizeof(struct ibv_sge);
	if (!requests)
		return;
	x->memory_size = NR_ROOMS * (requests + sges);
	at = mmap(NULL, x->memory_size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return;
	x->memory = at;
	for (i = 0; i < NR_ROOMS; i++, at += requests + sges) {
		x->rooms[i].requests = (void *) at;
		x->rooms[i].sges = (void *) (at + requests);
	}
}

/* A room that a thread is still emitting from keeps the memory mapped. */
static void drop_rooms(struct extended_qp *x)
{
	unsigned i;

	leave_room(x);
	for (i = 0; i < NR_ROOMS; i++)
		if (__atomic_load_n(&x->rooms[i].is_taken, __ATOMIC_ACQUIRE))
			return;
	if (x->memory)
		munmap(x->memory, x->memory_size);
}

static struct ibv_qp_ex *extension_of(struct ibv_qp *qp)
{
	struct ibv_qp_ex *(*to_ex)(struct ibv_qp *) =
		(struct ibv_qp_ex * (*) (struct ibv_qp *) )
			tap_verbs_function("ibv_qp_to_qp_ex", "IBVERBS_1.6");

	return to_ex ? to_ex(qp) : NULL;
}

bool tap_extended_qp_made(struct ibv_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);
	struct extended_qp *x;
	struct ibv_qp_ex *ex;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return true;
	ex = extension_of(qp);
	if (!ex)
		return true;
	/* Requests made by unknown operations would be posted uncounted. */
	if (!q || &ex->qp_base != qp || attr->send_ops_flags & ~KNOWN_OPERATIONS ||
	    !ex->wr_start || !ex->wr_complete || !ex->wr_abort)
		return false;
	x = tap_table_make(&extended);
	if (!x)
		return false;
	x->qp = q;
	x->operations = attr->send_ops_flags;
	make_rooms(x, &attr->cap);
	tap_table_show(&extended, x, ex);
	patch(x, ex, true);
	return true;
}

void tap_extended_qp_modified(struct ibv_qp *qp)
{
	struct extended_qp *x = tap_find(&extended, qp);

	if (x)
		patch(x, (struct ibv_qp_ex *) qp, false);
}

void *tap_extended_qp_destroy_begin(struct ibv_qp *qp)
{
	struct extended_qp *x = tap_find(&extended, qp);

	if (x)
		put_back(x, (struct ibv_qp_ex *) qp);
	return x;
}

void tap_extended_qp_destroy_end(void *followed, struct ibv_qp *qp, bool is_gone)
{
	struct extended_qp *x = followed;

	if (!x)
		return;
	if (is_gone) {
		drop_rooms(x);
		tap_table_drop(&extended, x);
	} else {
		patch(x, (struct ibv_qp_ex *) qp, false);
	}
}
