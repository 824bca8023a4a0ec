/* SPDX-License-Identifier: MIT */
/* Names of verbs.h's constants, and what they mean. */
#include "join/model/wire.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of enum ibv_wr_opcode. */
enum {
	RDMA_WRITE,
	RDMA_WRITE_WITH_IMM,
	SEND,
	SEND_WITH_IMM,
	RDMA_READ,
	ATOMIC_CMP_AND_SWP,
	ATOMIC_FETCH_AND_ADD,
	LOCAL_INV,
	BIND_MW,
	SEND_WITH_INV,
	TSO,
	DRIVER1,
	FLUSH = 14,
	ATOMIC_WRITE,
};

static const char *const opcodes[] = {
	[RDMA_WRITE] = "RDMA_WRITE",
	[RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
	[SEND] = "SEND",
	[SEND_WITH_IMM] = "SEND_WITH_IMM",
	[RDMA_READ] = "RDMA_READ",
	[ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
	[ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
	[LOCAL_INV] = "LOCAL_INV",
	[BIND_MW] = "BIND_MW",
	[SEND_WITH_INV] = "SEND_WITH_INV",
	[TSO] = "TSO",
	[DRIVER1] = "DRIVER1",
	[FLUSH] = "FLUSH",
	[ATOMIC_WRITE] = "ATOMIC_WRITE",
};

/* Of enum ibv_wc_status. */
static const char *const statuses[] = {
	"SUCCESS",
	"LOC_LEN_ERR",
	"LOC_QP_OP_ERR",
	"LOC_EEC_OP_ERR",
	"LOC_PROT_ERR",
	"WR_FLUSH_ERR",
	"MW_BIND_ERR",
	"BAD_RESP_ERR",
	"LOC_ACCESS_ERR",
	"REM_INV_REQ_ERR",
	"REM_ACCESS_ERR",
	"REM_OP_ERR",
	"RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR",
	"LOC_RDD_VIOL_ERR",
	"REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR",
	"INV_EECN_ERR",
	"INV_EEC_STATE_ERR",
	"FATAL_ERR",
	"RESP_TIMEOUT_ERR",
	"GENERAL_ERR",
	"TM_ERR",
	"TM_RNDV_INCOMPLETE",
};

/* Of enum ibv_event_type, those that are errors. */
static const char *const async_errors[] = {
	[0] = "CQ_ERR",	       [1] = "QP_FATAL",     [2] = "QP_REQ_ERR",
	[3] = "QP_ACCESS_ERR", [7] = "PATH_MIG_ERR", [8] = "DEVICE_FATAL",
	[10] = "PORT_ERR",     [14] = "SRQ_ERR",     [19] = "WQ_FATAL",
};

static const char *const whys[] = {
	[TAP_WHY_AMBIGUOUS] = "ambiguous",
	[TAP_WHY_BEFORE] = "before-recording",
	[TAP_WHY_COMPLETION_LOST] = "completion-missing",
	[TAP_WHY_CONTRADICTED] = "contradicted",
	[TAP_WHY_DROPPED] = "dropped",
	[TAP_WHY_FAILED] = "failed",
	[TAP_WHY_FLUSHED] = "flushed",
	[TAP_WHY_GRAPH] = "graph",
	[TAP_WHY_GIVEN_UP] = "given-up",
	[TAP_WHY_LATE] = "late",
	[TAP_WHY_LOST] = "lost",
	[TAP_WHY_NOT_RECORDED] = "not-recorded",
	[TAP_WHY_IN_USE] = "cupti-in-use",
	[TAP_WHY_ORDER] = "order",
	[TAP_WHY_PEER_MISSING] = "peer-missing",
	[TAP_WHY_PEER_UNKNOWN] = "peer-unknown",
	[TAP_WHY_POST_LOST] = "post-missing",
	[TAP_WHY_QUEUE] = "queue-unknown",
	[TAP_WHY_CONCURRENT] = "concurrent",
	[TAP_WHY_SETUP] = "setup-missing",
	[TAP_WHY_TIMES] = "times",
	[TAP_WHY_UNPROVED] = "unproved",
	[TAP_WHY_ZERO_TIME] = "zero-time",
};

const char *tap_match_name(enum tap_match_kind kind)
{
	static const char *const names[] = {
		[TAP_MATCH_POST_COMPLETION] = "post-completion",
		[TAP_MATCH_REQUEST_MEMORY] = "request-memory",
		[TAP_MATCH_SEND_RECEIVE] = "send-receive",
		[TAP_MATCH_CTS_MESSAGE] = "cts-message",
		[TAP_MATCH_FLUSH_MESSAGE] = "flush-message",
		[TAP_MATCH_SOCKET_MESSAGE] = "socket-message",
		[TAP_MATCH_API_LAUNCH] = "api-launch",
		[TAP_MATCH_LAUNCH_KERNEL] = "launch-kernel",
		[TAP_MATCH_KERNEL_COLLECTIVE] = "kernel-collective",
		[TAP_MATCH_MESSAGE_KERNEL] = "message-kernel",
	};

	return names[kind];
}

const char *tap_why_name(enum tap_why why)
{
	return whys[why];
}

enum tap_verbs_event tap_verbs_event(const char *name)
{
	static const struct {
		const char *name;
		enum tap_verbs_event event;
	} events[] = {
		{"verbs:post_send", TAP_VERBS_POST_SEND},
		{"verbs:post_send_list", TAP_VERBS_POST_SEND_LIST},
		{"verbs:post_rdma", TAP_VERBS_POST_SEND},
		{"verbs:post_rdma_list", TAP_VERBS_POST_SEND_LIST},
		{"verbs:post_datagram", TAP_VERBS_POST_SEND},
		{"verbs:post_datagram_list", TAP_VERBS_POST_SEND_LIST},
		{"verbs:post_recv", TAP_VERBS_POST_RECV},
		{"verbs:post_recv_list", TAP_VERBS_POST_RECV_LIST},
		{"verbs:post_failed", TAP_VERBS_POST_FAILED},
		{"verbs:poll", TAP_VERBS_POLL},
		{"verbs:poll_detailed", TAP_VERBS_POLL},
		{"verbs:poll_sent", TAP_VERBS_POLL},
		{"verbs:context", TAP_VERBS_CONTEXT},
		{"verbs:port", TAP_VERBS_PORT},
		{"verbs:gid", TAP_VERBS_GID},
		{"verbs:mr", TAP_VERBS_MR},
		{"verbs:mr_free", TAP_VERBS_MR_FREE},
		{"verbs:qp", TAP_VERBS_QP},
		{"verbs:qp_modify", TAP_VERBS_QP_MODIFY},
		{"verbs:qp_destroy", TAP_VERBS_QP_DESTROY},
		{"verbs:ah", TAP_VERBS_AH},
		{"verbs:ah_destroy", TAP_VERBS_AH_DESTROY},
		{"verbs:unobserved", TAP_VERBS_UNOBSERVED},
		{"verbs:async_event", TAP_VERBS_ASYNC},
		{"tap:statedump_context", TAP_VERBS_CONTEXT},
		{"tap:statedump_port", TAP_VERBS_PORT},
		{"tap:statedump_gid", TAP_VERBS_GID},
		{"tap:statedump_ah", TAP_VERBS_AH},
		{"tap:statedump_mr", TAP_VERBS_MR},
		{"tap:statedump_qp", TAP_VERBS_QP_STATEDUMP},
		{"tap:statedump_srq", TAP_VERBS_SRQ_STATEDUMP},
	};
	size_t i;

	for (i = 0; i < COUNT(events); i++)
		if (!strcmp(name, events[i].name))
			return events[i].event;
	return TAP_VERBS_NONE;
}

const char *tap_opcode_name(uint64_t opcode)
{
	return opcode < COUNT(opcodes) ? opcodes[opcode] : NULL;
}

const char *tap_wc_status_name(uint64_t status)
{
	return status < COUNT(statuses) ? statuses[status] : NULL;
}

const char *tap_async_error_name(uint64_t event)
{
	return event < COUNT(async_errors) ? async_errors[event] : NULL;
}

bool tap_opcode_is_consuming(uint64_t opcode)
{
	return opcode == SEND || opcode == SEND_WITH_IMM || opcode == SEND_WITH_INV ||
	       opcode == RDMA_WRITE_WITH_IMM;
}

bool tap_opcode_is_one_sided(uint64_t opcode)
{
	return opcode == RDMA_WRITE || opcode == RDMA_WRITE_WITH_IMM ||
	       opcode == RDMA_READ || opcode == ATOMIC_CMP_AND_SWP ||
	       opcode == ATOMIC_FETCH_AND_ADD || opcode == FLUSH ||
	       opcode == ATOMIC_WRITE;
}

bool tap_opcode_has_imm(uint64_t opcode)
{
	return opcode == SEND_WITH_IMM || opcode == RDMA_WRITE_WITH_IMM;
}

bool tap_work_is_request(const struct tap_work *work)
{
	return work->kind == TAP_WORK_SEND || work->kind == TAP_WORK_RECEIVE ||
	       work->kind == TAP_WORK_REFUSED;
}

bool tap_work_is_message(const struct tap_work *work)
{
	return work->kind == TAP_WORK_NET_SEND || work->kind == TAP_WORK_NET_RECEIVE;
}

bool tap_work_is_run(const struct tap_work *work)
{
	return work->kind == TAP_WORK_GPU;
}

bool tap_work_is_proxy(const struct tap_work *work)
{
	return work->kind == TAP_WORK_PROXY_OP || work->kind == TAP_WORK_PROXY_CTRL;
}

bool tap_work_is_known_late(const struct tap_work *work)
{
	return tap_work_is_run(work) || work->kind == TAP_WORK_PROXY_OP;
}

bool tap_work_is_receive(const struct tap_work *work)
{
	return work->kind == TAP_WORK_RECEIVE || work->kind == TAP_WORK_NET_RECEIVE ||
	       (work->kind == TAP_WORK_PROXY_OP && work->proxy.is_receive);
}

bool tap_work_is_shared(const struct tap_work *work)
{
	return tap_work_is_request(work) && work->request.srq_id;
}

uint64_t tap_work_queue_id(const struct tap_work *work)
{
	if (tap_work_is_message(work))
		return work->message.net_id;
	if (tap_work_is_proxy(work))
		return work->proxy.id;
	return work->request.srq_id ? work->request.srq_id : work->request.qp_id;
}
