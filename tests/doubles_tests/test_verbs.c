/* SPDX-License-Identifier: MIT */
/* softverbs when all is well: each operation, the order of completions, datagrams, shared
 * receives, inline data, fences, both interfaces, many queue pairs, long lists. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static struct ibv_context *context;
static struct ibv_context *other;

static void test_device(void)
{
	struct ibv_device_attr_ex extended;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	union ibv_gid gid_other;
	__be16 pkey;
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	ok(count == 2 && !list[2] && !strcmp(ibv_get_device_name(list[1]), "soft1"),
	   "the environment says how many devices there are");
	ok(ibv_get_device_guid(list[0]) != ibv_get_device_guid(list[1]),
	   "each has its GUID");
	ibv_free_device_list(list);
	context = open_device(0);
	other = open_device(1);
	ok(context && other && context->abi_compat == __VERBS_ABI_IS_EXTENDED,
	   "they are opened, and the context is an extended one");
	ok(!ibv_query_device(context, &attr) && attr.phys_port_cnt == 1 &&
		   attr.max_qp >= 1000,
	   "a device says what it can");
	ok(!ibv_query_device_ex(context, NULL, &extended) &&
		   extended.completion_timestamp_mask == UINT64_MAX,
	   "and that it has time stamps");
	ok(!ibv_query_port(context, 1, &port) && port.state == IBV_PORT_ACTIVE &&
		   port.link_layer == IBV_LINK_LAYER_ETHERNET && !port.lid,
	   "a port is active, and is Ethernet");
	ok(ibv_query_port(context, 2, &port) == EINVAL, "there is no second port");
	ok(!ibv_query_gid(context, 1, 1, &gid) &&
		   !ibv_query_gid(other, 1, 1, &gid_other) &&
		   memcmp(&gid, &gid_other, sizeof(gid)) && gid.raw[10] == 0xff,
	   "GID 1 is made of an IPv4 address, another's is another");
	ok(!ibv_query_gid_ex(context, 1, 1, &entry, 0) &&
		   entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		   ibv_query_gid_ex(context, 1, 2, &entry, 0) == ENODATA &&
		   ibv_query_gid(context, 1, 5000, &gid) == -1,
	   "others are empty or not there");
	ok(!ibv_query_pkey(context, 1, 0, &pkey) && pkey == 0xffff, "there is one P_Key");
}

static void test_send(struct end *a, struct end *b, const char *sentence)
{
	struct ibv_send_wr wr = {.wr_id = 11,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .imm_data = 99};
	struct ibv_wc sent;
	struct ibv_wc got;

	strcpy(a->memory, "a message");
	memset(b->memory, 0, BUFFER);
	post_recv(b, 21, 4096, 1000);
	post(a, &wr, 0, 10);
	ok(next(a->cq, &sent) && sent.wr_id == 11 && sent.status == IBV_WC_SUCCESS &&
		   sent.opcode == IBV_WC_SEND && sent.qp_num == a->qp->qp_num &&
		   next(b->cq, &got) && got.wr_id == 21 && got.status == IBV_WC_SUCCESS &&
		   got.opcode == IBV_WC_RECV && got.byte_len == 10 &&
		   got.imm_data == 99 && (got.wc_flags & IBV_WC_WITH_IMM) &&
		   got.qp_num == b->qp->qp_num && !strcmp(b->memory + 4096, "a message"),
	   sentence);
}

static void test_write(struct end *a, struct end *b)
{
	struct ibv_send_wr wr = {.wr_id = 12,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr = (uintptr_t) b->memory + 100,
					     .rkey = b->mr->rkey}};
	struct ibv_wc wc;

	strcpy(a->memory, "written");
	post(a, &wr, 0, 8);
	ok(next(a->cq, &wc) && wc.opcode == IBV_WC_RDMA_WRITE && !wc.status &&
		   !strcmp(b->memory + 100, "written") && is_empty(b->cq),
	   "a write lands, and the target hears nothing");
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = 7;
	strcpy(a->memory, "again..");
	post_recv(b, 22, 0, 1);
	post(a, &wr, 0, 8);
	ok(next(a->cq, &wc) && wc.opcode == IBV_WC_RDMA_WRITE && !wc.status &&
		   next(b->cq, &wc) && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
		   !wc.status && wc.wr_id == 22 && wc.byte_len == 8 && wc.imm_data == 7 &&
		   !strcmp(b->memory + 100, "again.."),
	   "with immediate data it uses up a receive");
}

enum { ENTRIES = 8, WORDS = 8 };

struct watched {
	uint64_t *words;
	atomic_bool is_over;
	int wrong;
};

/* NCCL's sender looks so at its list: an entry is there when its last word is. */
static void *watch(void *arg)
{
	struct watched *watched = arg;
	int i;

	while (!atomic_load(&watched->is_over)) {
		for (i = 0; i < ENTRIES * WORDS; i++) {
			uint64_t *last = &watched->words[i / WORDS * WORDS + WORDS - 1];
			uint64_t there = __atomic_load_n(last, __ATOMIC_ACQUIRE);

			watched->wrong += __atomic_load_n(&watched->words[i],
							  __ATOMIC_RELAXED) < there;
		}
	}
	return NULL;
}

static void test_rising(struct end *a, struct end *b)
{
	enum { OFFSET = 1024, WRITES = 300000 };
	struct ibv_send_wr wr = {.wr_id = 21,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	/* A line of the cache for each. */
	uintptr_t there = ((uintptr_t) b->memory + OFFSET) & -(uintptr_t) 64;
	struct watched watched = {.words = (uint64_t *) there};
	uint64_t *words = (uint64_t *) (a->memory + OFFSET);
	bool is_right = true;
	pthread_t thread;
	uint64_t n;
	int i;

	memset(watched.words, 0, ENTRIES * WORDS * sizeof(*words));
	wr.wr.rdma.remote_addr = (uintptr_t) watched.words;
	wr.wr.rdma.rkey = b->mr->rkey;
	pthread_create(&thread, NULL, watch, &watched);
	for (n = 1; n <= WRITES && is_right; n++) {
		for (i = 0; i < ENTRIES * WORDS; i++)
			words[i] = n;
		is_right = !post(a, &wr, OFFSET, ENTRIES * WORDS * sizeof(*words)) &&
			   completes(a->cq, 21, IBV_WC_SUCCESS);
	}
	atomic_store(&watched.is_over, true);
	pthread_join(thread, NULL);
	if (watched.wrong)
		printf("# seen %d times the other way round\n", watched.wrong);
	ok(is_right && !watched.wrong, "of a short write the beginning is there first");
}

static void test_read_and_atomics(struct end *a, struct end *b)
{
	uint64_t *word = (uint64_t *) (b->memory + 512);
	uint64_t *old = (uint64_t *) a->memory;
	struct ibv_send_wr wr = {.wr_id = 13,
				 .opcode = IBV_WR_RDMA_READ,
				 .wr.rdma = {.remote_addr = (uintptr_t) b->memory + 512,
					     .rkey = b->mr->rkey}};
	struct ibv_send_wr atomic = {.wr_id = 14,
				     .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				     .wr.atomic = {.remote_addr = (uintptr_t) word,
						   .rkey = b->mr->rkey,
						   .compare_add = 5}};
	struct ibv_wc wc;

	*word = 1000;
	post(a, &wr, 64, 8);
	ok(next(a->cq, &wc) && wc.opcode == IBV_WC_RDMA_READ && !wc.status &&
		   wc.byte_len == 8 && !memcmp(a->memory + 64, word, 8),
	   "a read brings what is there");
	post(a, &atomic, 0, 8);
	ok(next(a->cq, &wc) && wc.opcode == IBV_WC_FETCH_ADD && !wc.status &&
		   *old == 1000 && *word == 1005,
	   "fetch and add gives the old value");
	atomic.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	atomic.wr.atomic.compare_add = 1;
	atomic.wr.atomic.swap = 2;
	post(a, &atomic, 0, 8);
	ok(next(a->cq, &wc) && wc.opcode == IBV_WC_COMP_SWAP && *old == 1005 &&
		   *word == 1005,
	   "compare and swap of another value changes nothing");
	atomic.wr.atomic.compare_add = 1005;
	post(a, &atomic, 0, 8);
	ok(next(a->cq, &wc) && *old == 1005 && *word == 2, "of the same value it swaps");
}

static void test_null_region(struct end *a, struct end *b)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(a->pd);
	struct ibv_sge sge = {.addr = 12345, .length = 8, .lkey = mr ? mr->lkey : 0};
	uint64_t *word = (uint64_t *) (b->memory + 512);
	struct ibv_send_wr wr = {.wr_id = 15,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.atomic = {.remote_addr = (uintptr_t) word,
					       .rkey = b->mr->rkey,
					       .compare_add = 5}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	*word = 7;
	ibv_post_send(a->qp, &wr, &bad);
	ok(mr && next(a->cq, &wc) && !wc.status && *word == 12,
	   "what is read into a null region is gone");
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = (uintptr_t) word;
	wr.wr.rdma.rkey = b->mr->rkey;
	ibv_post_send(a->qp, &wr, &bad);
	ok(next(a->cq, &wc) && !wc.status && !*word, "it reads as zeros");
	ok(mr && !ibv_dereg_mr(mr), "it goes as any other");
}

/* A window of b's memory that a writes to, until b or a invalidates it. */
static void test_window(struct end *a, struct end *b)
{
	struct ibv_mr *mr =
		ibv_reg_mr(b->pd, b->memory, BUFFER, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr bind = {.wr_id = 16, .opcode = IBV_WR_BIND_MW};
	struct ibv_send_wr send = {.wr_id = 17, .opcode = IBV_WR_SEND_WITH_INV};
	struct ibv_send_wr write = {.wr_id = 18, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_send_wr local = {.wr_id = 19, .opcode = IBV_WR_LOCAL_INV};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	uint32_t rkey;

	ok(mr && mw && !ibv_alloc_mw(b->pd, IBV_MW_TYPE_1),
	   "there are windows of type 2");
	rkey = ibv_inc_rkey(mw->rkey);
	bind.send_flags = IBV_SEND_SIGNALED;
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = rkey;
	bind.bind_mw.bind_info =
		(struct ibv_mw_bind_info){.mr = mr,
					  .addr = (uintptr_t) b->memory + 4096,
					  .length = 4096,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	ibv_post_send(b->qp, &bind, &bad);
	ok(next(b->cq, &wc) && !wc.status && wc.opcode == IBV_WC_BIND_MW &&
		   mw->rkey == rkey,
	   "one is bound by a request");
	write.wr.rdma.remote_addr = (uintptr_t) b->memory + 4096;
	write.wr.rdma.rkey = rkey;
	strcpy(a->memory, "window");
	post(a, &write, 0, 7);
	ok(completes(a->cq, 18, IBV_WC_SUCCESS) && !strcmp(b->memory + 4096, "window"),
	   "what it shows is written to");
	post_recv(b, 20, 0, 8);
	send.invalidate_rkey = rkey;
	post(a, &send, 0, 1);
	ok(completes(a->cq, 17, IBV_WC_SUCCESS) && next(b->cq, &wc) && !wc.status &&
		   wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey,
	   "a send invalidates it");
	bind.bind_mw.rkey = ibv_inc_rkey(rkey);
	ibv_post_send(b->qp, &bind, &bad);
	local.send_flags = IBV_SEND_SIGNALED;
	local.invalidate_rkey = ibv_inc_rkey(rkey);
	ibv_post_send(b->qp, &local, &bad);
	ok(completes(b->cq, 16, IBV_WC_SUCCESS) && completes(b->cq, 19, IBV_WC_SUCCESS),
	   "so does a request of its own, after it was bound again");
	write.wr.rdma.rkey = ibv_inc_rkey(rkey);
	post(a, &write, 0, 7);
	ok(completes(a->cq, 18, IBV_WC_REM_ACCESS_ERR), "then nobody writes through it");
	ok(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr), "it goes");
}

static void test_order(struct end *a, struct end *b)
{
	struct ibv_send_wr wr[6] = {{0}};
	struct ibv_sge sge[2] = {piece(a, 0, 3), piece(a, 1000, 4)};
	struct ibv_send_wr *bad;
	struct ibv_wc wc[8];
	int i;

	memcpy(a->memory, "abc", 3);
	memcpy(a->memory + 1000, "defg", 4);
	for (i = 0; i < 6; i++) {
		wr[i].wr_id = 100 + (uint64_t) i;
		wr[i].next = i < 5 ? &wr[i + 1] : NULL;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = sge;
		wr[i].num_sge = i ? 2 : 0;
		wr[i].send_flags = i % 2 ? IBV_SEND_SIGNALED : 0;
		post_recv(b, 200 + (uint64_t) i, (size_t) i * 16, 16);
	}
	ok(!ibv_post_send(a->qp, wr, &bad) && ibv_poll_cq(a->cq, 8, wc) == 3 &&
		   wc[0].wr_id == 101 && wc[1].wr_id == 103 && wc[2].wr_id == 105,
	   "of a list those complete that are signalled, in order");
	ok(ibv_poll_cq(b->cq, 8, wc) == 6 && wc[0].wr_id == 200 && wc[0].byte_len == 0 &&
		   wc[5].wr_id == 205 && wc[5].byte_len == 7 &&
		   !memcmp(b->memory + 80, "abcdefg", 7),
	   "receives are used up in order, and pieces are put together");
}

static void test_waiting(struct end *a, struct end *b)
{
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr write = {.wr_id = 2,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .wr.rdma = {.remote_addr = (uintptr_t) b->memory,
						.rkey = b->mr->rkey}};

	b->memory[0] = 'o';
	a->memory[0] = 'n';
	post(a, &wr, 0, 1);
	post(a, &write, 0, 1);
	ok(is_empty(a->cq) && b->memory[0] == 'o',
	   "without a receive a send waits, and what is behind it");
	post_recv(b, 3, 10, 10);
	ok(completes(a->cq, 1, 0) && completes(a->cq, 2, 0) && completes(b->cq, 3, 0) &&
		   b->memory[0] == 'n',
	   "a receive lets both go");
}

static void test_inline(struct end *a, struct end *b)
{
	char text[128] = "not registered";
	struct ibv_sge sge = {.addr = (uintptr_t) text, .length = 15, .lkey = 0xbad};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	ibv_post_send(a->qp, &wr, &bad);
	memset(text, 'x', sizeof(text));
	post_recv(b, 2, 0, 100);
	ok(completes(a->cq, 1, 0) && completes(b->cq, 2, 0) &&
		   !strcmp(b->memory, "not registered"),
	   "inline data is that of the time of the post, and needs no key");
	sge.length = 4000;
	ok(ibv_post_send(a->qp, &wr, &bad) == EINVAL && bad == &wr,
	   "too much of it is refused");
}

static void test_srq(void)
{
	struct options options = usual;
	struct ibv_srq_attr limit = {.srq_limit = 2};
	struct ibv_async_event event;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct ibv_qp_init_attr attr;
	struct ibv_srq_attr now;
	struct ibv_recv_wr recv = {0};
	struct ibv_recv_wr *bad;
	struct address at[2];
	struct ibv_qp *second;
	struct ibv_wc wc;
	struct end a;
	struct end b;
	struct end c;

	options.has_srq = true;
	make_pair(&a, &b, context, context, &options);
	/* A third end, connected to a second queue pair on the same shared queue. */
	make_end(&c, context, &options);
	attr = qp_attributes(&b, &options);
	second = ibv_create_qp(b.pd, &attr);
	at[0] = address_of(&c, 1);
	at[1] = at[0];
	at[1].qpn = second->qp_num;
	connect_end(&c, &options, &at[1], 1);
	ok(!to_init(second, &options) && !to_rtr(second, &options, &at[0]) &&
		   !to_rts(second, &options, 1),
	   "two queue pairs share a receive queue");
	ok(ibv_post_recv(b.qp, &recv, &bad) == EINVAL, "they have none of their own");
	post_recv(&b, 1, 0, 10);
	post_recv(&b, 2, 0, 10);
	post_recv(&b, 3, 0, 10);
	ok(!ibv_modify_srq(b.srq, &limit, IBV_SRQ_LIMIT) && !ibv_query_srq(b.srq, &now) &&
		   now.srq_limit == 2,
	   "it has a limit");
	post(&a, &wr, 0, 1);
	ok(next(b.cq, &wc) && wc.wr_id == 1 && wc.qp_num == b.qp->qp_num,
	   "one takes the first");
	post(&c, &wr, 0, 1);
	ok(next(b.cq, &wc) && wc.wr_id == 2 && wc.qp_num == second->qp_num,
	   "the other one the second");
	ok(!ibv_get_async_event(context, &event) &&
		   event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED &&
		   event.element.srq == b.srq && !ibv_query_srq(b.srq, &now) &&
		   !now.srq_limit,
	   "below the limit there is one event");
	ibv_ack_async_event(&event);
	ok(ibv_destroy_srq(b.srq) == EBUSY, "it cannot be destroyed while it is used");
	ibv_destroy_qp(second);
	free_end(&a);
	free_end(&b);
	free_end(&c);
}

static void test_datagrams(void)
{
	struct options options = usual;
	struct address at;
	struct ibv_ah_attr route;
	struct ibv_send_wr wr = {.wr_id = 5,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .imm_data = 3};
	struct ibv_grh *grh;
	struct ibv_ah *back;
	struct ibv_wc wc;
	struct end a;
	struct end b;

	options.type = IBV_QPT_UD;
	make_pair(&a, &b, context, other, &options);
	at = address_of(&b, 0);
	route = route_to(&at);
	wr.wr.ud.ah = ibv_create_ah(a.pd, &route);
	wr.wr.ud.remote_qpn = at.qpn;
	wr.wr.ud.remote_qkey = 0x1234;
	strcpy(a.memory, "datagram");
	post_recv(&b, 6, 1024, 200);
	post(&a, &wr, 0, 9);
	grh = (struct ibv_grh *) (b.memory + 1024);
	ok(completes(a.cq, 5, 0) && next(b.cq, &wc) && !wc.status && wc.byte_len == 49 &&
		   (wc.wc_flags & IBV_WC_GRH) && wc.src_qp == a.qp->qp_num &&
		   wc.imm_data == 3 && !strcmp(b.memory + 1024 + 40, "datagram"),
	   "a datagram comes with its source behind 40 bytes");
	ok(!memcmp(&grh->dgid, &at.gid, sizeof(at.gid)), "which are the GRH");
	back = ibv_create_ah_from_wc(b.pd, &wc, grh, 1);
	ok(back != NULL, "of which the way back can be made");
	ibv_destroy_ah(back);
	post(&a, &wr, 0, 9);
	ok(completes(a.cq, 5, 0) && is_empty(b.cq), "without a receive it is lost");
	post_recv(&b, 7, 1024, 200);
	wr.wr.ud.remote_qkey = 1;
	post(&a, &wr, 0, 9);
	ok(completes(a.cq, 5, 0) && is_empty(b.cq), "with a wrong Q_Key too");
	wr.wr.ud.remote_qkey = 0x1234;
	post(&a, &wr, 0, 5000);
	ok(completes(a.cq, 5, 0) && is_empty(b.cq), "and what is larger than the MTU");
	ibv_destroy_ah(wr.wr.ud.ah);
	free_end(&a);
	free_end(&b);
}

static void test_unreliable(void)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad;
	struct end a;
	struct end b;

	options.type = IBV_QPT_UC;
	make_pair(&a, &b, context, other, &options);
	test_send(&a, &b, "an unreliable connection sends");
	test_write(&a, &b);
	post(&a, &wr, 0, 1);
	ok(completes(a.cq, 1, 0) && is_empty(b.cq), "and loses what finds no receive");
	wr.opcode = IBV_WR_RDMA_READ;
	ok(ibv_post_send(a.qp, &wr, &bad) == EINVAL, "it does not read");
	free_end(&a);
	free_end(&b);
}

static void test_many(void)
{
	enum { MANY = 1000 };
	static struct end a[MANY];
	static struct end b[MANY];
	struct options options = usual;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	int failed = 0;
	int i;

	options.cqe = 16;
	for (i = 0; i < MANY; i++)
		failed |= make_pair(&a[i], &b[i], context, other, &options);
	ok(!failed && a[5].qp->qp_num != a[6].qp->qp_num,
	   "a thousand pairs are connected");
	for (i = 0; i < MANY; i++) {
		wr.wr_id = (uint64_t) i;
		a[i].memory[0] = (char) i;
		post_recv(&b[i], (uint64_t) i, 0, 1);
		post(&a[i], &wr, 0, 1);
	}
	for (i = 0; i < MANY; i++)
		failed |= !completes(a[i].cq, (uint64_t) i, 0) ||
			  !completes(b[i].cq, (uint64_t) i, 0) ||
			  b[i].memory[0] != (char) i;
	ok(!failed, "each carries its own");
	for (i = 0; i < MANY; i++) {
		free_end(&a[i]);
		free_end(&b[i]);
	}
}

static void test_long_list(void)
{
	enum { LONG = 512 };
	static struct ibv_send_wr wr[LONG + 1];
	struct options options = usual;
	struct ibv_send_wr *bad = NULL;
	struct ibv_qp_init_attr attr;
	static struct ibv_wc wc[LONG + 1];
	struct address at;
	struct ibv_sge sge;
	struct end a;
	int i;

	options.cqe = LONG + 1;
	make_end(&a, context, &options);
	ibv_destroy_qp(a.qp);
	attr = qp_attributes(&a, &options);
	attr.cap.max_send_wr = LONG;
	a.qp = ibv_create_qp(a.pd, &attr);
	/* A queue pair may be connected to itself. */
	at = address_of(&a, 3);
	connect_end(&a, &options, &at, 3);
	for (i = 0; i < LONG; i++) {
		sge = piece(&a, 0, 4);
		wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t) i,
			.next = i + 1 < LONG ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr =
					    (uintptr_t) a.memory + 128 + 4 * (unsigned) i,
				    .rkey = a.mr->rkey},
		};
	}
	strcpy(a.memory, "wxyz");
	ok(!ibv_post_send(a.qp, wr, &bad) && ibv_poll_cq(a.cq, LONG + 1, wc) == LONG &&
		   wc[0].wr_id == 0 && wc[LONG - 1].wr_id == LONG - 1 &&
		   !memcmp(a.memory + 128 + 4 * (LONG - 1), "wxyz", 4),
	   "a list of 512, to itself");
	free_end(&a);
}

static atomic_int completions;

/* One of several that post to one queue pair and poll one completion queue. */
static void *post_and_poll(void *data)
{
	struct end *end = data;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr =
						     (uintptr_t) end->memory + 4096,
					     .rkey = end->mr->rkey}};
	struct ibv_wc wc[4];
	int i;

	for (i = 0; i < 5000; i++) {
		while (post(end, &wr, 0, 8))
			;
		completions += ibv_poll_cq(end->cq, 4, wc);
	}
	return NULL;
}

static void test_threads(void)
{
	struct address at;
	pthread_t threads[4];
	struct end a;
	struct ibv_wc wc;
	int i;

	make_end(&a, context, &usual);
	at = address_of(&a, 3);
	connect_end(&a, &usual, &at, 3);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, post_and_poll, &a);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	while (ibv_poll_cq(a.cq, 1, &wc) == 1)
		completions++;
	ok(completions == 20000,
	   "four threads on one queue pair and one completion queue");
	free_end(&a);
}

int main(void)
{
	struct end a;
	struct end b;

	setenv("SOFTVERBS_DEVICES", "2", 1);
	be_alone();
	test_device();
	ok(!make_pair(&a, &b, context, other, &usual), "two queue pairs are connected");
	ok(a.qp->qp_num == b.qp->qp_num, "two devices hand out equal numbers");
	test_send(&a, &b, "a send with immediate data is received");
	test_write(&a, &b);
	test_rising(&a, &b);
	test_read_and_atomics(&a, &b);
	test_null_region(&a, &b);
	test_order(&a, &b);
	test_waiting(&a, &b);
	test_inline(&a, &b);
	/* The last: the queue pairs are in error then. */
	test_window(&a, &b);
	free_end(&a);
	free_end(&b);
	test_srq();
	test_datagrams();
	test_unreliable();
	test_many();
	test_long_list();
	test_threads();
	ok(!ibv_close_device(context) && !ibv_close_device(other),
	   "the devices are closed");
	return tap_done();
}
