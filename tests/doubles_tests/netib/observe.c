/* SPDX-License-Identifier: MIT */
/*
 * Sees what NET/IB asks of libibverbs, as one line per call.  The program exports a
 * dlvsym(), by which NET/IB looks for libibverbs, and gives it functions in front of the
 * real ones; posting and polling go through the context, where they are replaced.
 *
 * A line begins with the stream that it belongs to: inside one, the order is NET/IB's
 * own, between two it may be the adapter's.  Addresses are told by the region that they
 * lie in, queues and regions by their names: the part of the program that made it, its
 * kind, and which of these.
 */
#include "netib.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 4096

enum kind { CONTEXT, OWNER, PD, CQ, QP, MR, KINDS };

static const char *const kinds[KINDS] = {"device", "owner", "pd", "cq", "qp", "mr"};

struct name {
	enum kind kind;
	const void *object;
	char text[48];
	uintptr_t address;
	size_t size;
	uint32_t qp_num;
};

static FILE *out;
static const char *current = "init";
static struct name names[MAX_NAMES];
static int name_count;

static struct {
	struct ibv_context *(*open_device)(struct ibv_device *);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	int (*dealloc_pd)(struct ibv_pd *);
	struct ibv_mr *(*reg_dmabuf)(struct ibv_pd *, uint64_t, size_t, uint64_t, int,
				     int);
	int (*query_ece)(struct ibv_qp *, struct ibv_ece *);
	int (*set_ece)(struct ibv_qp *, struct ibv_ece *);
	struct ibv_cq *(*create_cq)(struct ibv_context *, int, void *,
				    struct ibv_comp_channel *, int);
	struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
	int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, int);
	struct ibv_mr *(*reg_iova2)(struct ibv_pd *, void *, size_t, uint64_t,
				    unsigned int);
	int (*dereg_mr)(struct ibv_mr *);
	int (*destroy_qp)(struct ibv_qp *);
	int (*destroy_cq)(struct ibv_cq *);
	int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
	int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
	int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
} real;

void observe_begin(FILE *file)
{
	out = file;
}

void observe_part(const char *part)
{
	current = part;
}

static struct name *find(enum kind kind, const void *object)
{
	int i;

	for (i = name_count - 1; i >= 0; i--) {
		if (names[i].kind == kind && names[i].object == object)
			return &names[i];
	}
	return NULL;
}

static struct name *add(enum kind kind, const void *object)
{
	struct name *name = &names[name_count];
	int nr = 0;
	int i;

	if (name_count == MAX_NAMES)
		abort();
	for (i = 0; i < name_count; i++)
		nr += names[i].kind == kind &&
		      strncmp(names[i].text, current, strlen(current)) == 0;
	*name = (struct name){.kind = kind, .object = object};
	snprintf(name->text, sizeof(name->text), "%s.%s%d", current, kinds[kind], nr);
	name_count++;
	return name;
}

static const char *name_of(enum kind kind, const void *object)
{
	struct name *name = find(kind, object);

	if (!object)
		return "none";
	return name ? name->text : add(kind, object)->text;
}

static void forget(enum kind kind, const void *object)
{
	struct name *name = find(kind, object);

	if (name)
		name->object = NULL;
}

/* By the number, which on two adapters may be equal: that of the same part and place. */
static const char *qp_by_number(const struct ibv_qp *own, uint32_t number)
{
	const struct name *best = NULL;
	int i;

	if (own->qp_num == number)
		return "itself";
	for (i = 0; i < name_count; i++) {
		if (names[i].kind == QP && names[i].object && names[i].qp_num == number &&
		    (!best || strcmp(names[i].text, name_of(QP, own)) != 0))
			best = &names[i];
	}
	return best ? best->text : "?";
}

static void place(char *text, size_t size, uint64_t address)
{
	int i;

	for (i = name_count - 1; i >= 0; i--) {
		if (names[i].kind == MR && names[i].object &&
		    address >= names[i].address &&
		    address - names[i].address < names[i].size) {
			snprintf(text, size, "%s+%" PRIu64, names[i].text,
				 address - names[i].address);
			return;
		}
	}
	snprintf(text, size, address ? "elsewhere" : "0");
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = real.alloc_pd(context);

	fprintf(out, "%s.make %s on %s\n", current, name_of(PD, pd),
		name_of(CONTEXT, context));
	return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	fprintf(out, "%s.end %s\n", current, name_of(PD, pd));
	forget(PD, pd);
	return real.dealloc_pd(pd);
}

static struct ibv_mr *reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t size,
				 uint64_t iova, int fd, int access)
{
	fprintf(out, "%s.make DMA-BUF on %s of descriptor %d bytes %zu access %#x\n",
		current, name_of(PD, pd), fd, size, (unsigned int) access);
	return real.reg_dmabuf(pd, offset, size, iova, fd, access);
}

static int query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	fprintf(out, "%s.make %s asked for ECE\n", current, name_of(QP, qp));
	return real.query_ece(qp, ece);
}

static int set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	fprintf(out, "%s.make %s given ECE\n", current, name_of(QP, qp));
	return real.set_ece(qp, ece);
}

static struct ibv_cq *create_cq(struct ibv_context *context, int size, void *owner,
				struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = real.create_cq(context, size, owner, channel, vector);

	fprintf(out, "%s.make %s on %s size %d owner %s vector %d%s\n", current,
		add(CQ, cq)->text, name_of(CONTEXT, context), size, name_of(OWNER, owner),
		vector, channel ? " channel" : "");
	return cq;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr asked = *init;
	struct ibv_qp *qp = real.create_qp(pd, init);
	struct name *name = add(QP, qp);

	name->qp_num = qp->qp_num;
	fprintf(out,
		"%s.make %s on %s cqs %s %s owner %s type %d sends %u %u receives %u %u inline "
		"%u all %d%s\n",
		current, name->text, name_of(PD, pd), name_of(CQ, asked.send_cq),
		name_of(CQ, asked.recv_cq), name_of(OWNER, asked.qp_context),
		asked.qp_type, asked.cap.max_send_wr, asked.cap.max_send_sge,
		asked.cap.max_recv_wr, asked.cap.max_recv_sge, asked.cap.max_inline_data,
		asked.sq_sig_all, asked.srq ? " srq" : "");
	return qp;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	fprintf(out, "%s.make %s mask %#x state %d", current, name_of(QP, qp),
		(unsigned int) mask, attr->qp_state);
	if (mask & IBV_QP_ACCESS_FLAGS)
		fprintf(out, " pkey %u port %u access %#x", attr->pkey_index,
			attr->port_num, attr->qp_access_flags);
	if (mask & IBV_QP_AV)
		fprintf(out,
			" mtu %d to %s sgid %u global %u hops %u class %u level %u dlid %u port %u "
			"reads %u timer %u psn %u",
			attr->path_mtu, qp_by_number(qp, attr->dest_qp_num),
			attr->ah_attr.grh.sgid_index, attr->ah_attr.is_global,
			attr->ah_attr.grh.hop_limit, attr->ah_attr.grh.traffic_class,
			attr->ah_attr.sl, attr->ah_attr.dlid, attr->ah_attr.port_num,
			attr->max_dest_rd_atomic, attr->min_rnr_timer, attr->rq_psn);
	if (mask & IBV_QP_TIMEOUT)
		fprintf(out, " timeout %u retries %u %u reads %u psn %u", attr->timeout,
			attr->retry_cnt, attr->rnr_retry, attr->max_rd_atomic,
			attr->sq_psn);
	fputc('\n', out);
	return real.modify_qp(qp, attr, mask);
}

static void add_region(struct ibv_mr *mr, struct ibv_pd *pd, unsigned int access,
		       const char *function)
{
	struct name *name;

	if (!mr) {
		fprintf(out, "%s.make no region by %s\n", current, function);
		return;
	}
	name = add(MR, mr);
	name->address = (uintptr_t) mr->addr;
	name->size = mr->length;
	fprintf(out, "%s.make %s on %s bytes %zu access %#x by %s\n", current, name->text,
		name_of(PD, pd), mr->length, access, function);
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *data, size_t size, int access)
{
	struct ibv_mr *mr = real.reg(pd, data, size, access);

	add_region(mr, pd, (unsigned int) access, "reg_mr");
	return mr;
}

static struct ibv_mr *reg_iova2(struct ibv_pd *pd, void *data, size_t size, uint64_t iova,
				unsigned int access)
{
	struct ibv_mr *mr = real.reg_iova2(pd, data, size, iova, access);

	if (pd)
		add_region(mr, pd, access, "reg_mr_iova2");
	return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
	fprintf(out, "%s.end %s\n", current, name_of(MR, mr));
	forget(MR, mr);
	return real.dereg_mr(mr);
}

static int destroy_qp(struct ibv_qp *qp)
{
	fprintf(out, "%s.end %s\n", current, name_of(QP, qp));
	forget(QP, qp);
	return real.destroy_qp(qp);
}

static int destroy_cq(struct ibv_cq *cq)
{
	fprintf(out, "%s.end %s\n", current, name_of(CQ, cq));
	forget(CQ, cq);
	return real.destroy_cq(cq);
}

static void write_request(const struct ibv_send_wr *wr)
{
	char from[64];
	char to[64];
	int i;

	place(to, sizeof(to), wr->wr.rdma.remote_addr);
	fprintf(out, " [opcode %d id %#" PRIx64 " flags %#x to %s", wr->opcode, wr->wr_id,
		wr->send_flags, to);
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		fprintf(out, " imm %#x", wr->imm_data);
	for (i = 0; i < wr->num_sge; i++) {
		place(from, sizeof(from), wr->sg_list[i].addr);
		fprintf(out, " bytes %u of %s", wr->sg_list[i].length, from);
	}
	fputc(']', out);
}

/* What a part posts is one stream: its order over the queue pairs is NET/IB's. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list,
		     struct ibv_send_wr **ret_bad)
{
	const char *name = name_of(QP, qp);
	const struct ibv_send_wr *wr;

	fprintf(out, "%.*s.post %s", (int) strcspn(name, "."), name, name);
	for (wr = list; wr; wr = wr->next)
		write_request(wr);
	fputc('\n', out);
	return real.post_send(qp, list, ret_bad);
}

/* Posted when something has come, if NET/IB posts them beforehand: so by queue pair. */
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *list,
		     struct ibv_recv_wr **ret_bad)
{
	const struct ibv_recv_wr *wr;

	for (wr = list; wr; wr = wr->next)
		fprintf(out, "%s.receive id %#" PRIx64 " pieces %d\n", name_of(QP, qp),
			wr->wr_id, wr->num_sge);
	return real.post_recv(qp, list, ret_bad);
}

static const char *qp_of_completion(const struct ibv_cq *cq, const struct ibv_wc *wc)
{
	int i;

	for (i = name_count - 1; i >= 0; i--) {
		const struct ibv_qp *qp = names[i].object;

		if (names[i].kind == QP && qp && qp->qp_num == wc->qp_num &&
		    (qp->send_cq == cq || qp->recv_cq == cq))
			return names[i].text;
	}
	return "?";
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wcs)
{
	int count = real.poll_cq(cq, most, wcs);
	int i;

	for (i = 0; i < count; i++) {
		fprintf(out, "%s.done.%d most %d id %#" PRIx64 " status %d",
			qp_of_completion(cq, &wcs[i]), wcs[i].opcode, most, wcs[i].wr_id,
			wcs[i].status);
		if (wcs[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			fprintf(out, " bytes %u imm %#x", wcs[i].byte_len,
				wcs[i].imm_data);
		fputc('\n', out);
	}
	return count;
}

static struct ibv_context *open_device(struct ibv_device *device)
{
	struct ibv_context *context = real.open_device(device);

	if (!context)
		return NULL;
	fprintf(out, "%s.make %s\n", current, name_of(CONTEXT, context));
	real.post_send = context->ops.post_send;
	real.post_recv = context->ops.post_recv;
	real.poll_cq = context->ops.poll_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.poll_cq = poll_cq;
	return context;
}

static const struct {
	const char *name;
	void *place;
	void *function;
} replaced[] = {
	{"ibv_open_device", &real.open_device, (void *) open_device},
	{"ibv_alloc_pd", &real.alloc_pd, (void *) alloc_pd},
	{"ibv_dealloc_pd", &real.dealloc_pd, (void *) dealloc_pd},
	{"ibv_reg_dmabuf_mr", &real.reg_dmabuf, (void *) reg_dmabuf},
	{"ibv_query_ece", &real.query_ece, (void *) query_ece},
	{"ibv_set_ece", &real.set_ece, (void *) set_ece},
	{"ibv_create_cq", &real.create_cq, (void *) create_cq},
	{"ibv_create_qp", &real.create_qp, (void *) create_qp},
	{"ibv_modify_qp", &real.modify_qp, (void *) modify_qp},
	{"ibv_reg_mr", &real.reg, (void *) reg},
	{"ibv_reg_mr_iova2", &real.reg_iova2, (void *) reg_iova2},
	{"ibv_dereg_mr", &real.dereg_mr, (void *) dereg_mr},
	{"ibv_destroy_qp", &real.destroy_qp, (void *) destroy_qp},
	{"ibv_destroy_cq", &real.destroy_cq, (void *) destroy_cq},
};

void *dlvsym(void *restrict handle, const char *restrict name,
	     const char *restrict version)
{
	static void *(*next)(void *, const char *, const char *);
	void *found;
	size_t i;

	if (!next)
		*(void **) &next = dlsym(RTLD_NEXT, "dlvsym");
	found = next(handle, name, version);
	for (i = 0; found && out && i < sizeof(replaced) / sizeof(*replaced); i++) {
		if (strcmp(name, replaced[i].name) == 0) {
			*(void **) replaced[i].place = found;
			return replaced[i].function;
		}
	}
	return found;
}
