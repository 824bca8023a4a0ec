/* SPDX-License-Identifier: MIT */
/* The only exported symbol of libccltap-events.so. */
#include "tracepoints/events.h"

#include <lttng/ust-fork.h>
#include <sys/resource.h>

#include "common/compiler.h"
#include "tracepoints/providers.h"

extern struct tap_events tap_events tap_exported;

/*
 * LTTng exports these for its library that guards descriptors; no installed header
 * declares them.
 */
int lttng_ust_safe_close_fd(int fd, int (*close_cb)(int fd));
int lttng_ust_safe_closefrom_fd(int lowfd, int (*close_cb)(int fd));
void lttng_ust_lock_fd_tracker(void);
void lttng_ust_unlock_fd_tracker(void);
int lttng_ust_add_fd_to_tracker(int fd);
void lttng_ust_delete_fd_from_tracker(int fd);

/* Of LTTng's list of descriptors; it has room up to the hard limit of when it is loaded. */
#define FD_NUMBERS_MAX 1024

static int count_fd_numbers(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_max < FD_NUMBERS_MAX ? (int) limit.rlim_max : FD_NUMBERS_MAX;
}

static struct tap_cuda_row cuda_rows[TAP_CUDA_NR];

struct tap_gate *tap_tp_gate;

static void prepare(struct tap_gate *gate)
{
	tap_tp_gate = gate;
	tap_tp_stay();
}

/* clang-format off */
#define POINTER(name, params, args) .name = tap_tp_##name,
struct tap_events tap_events = {
	.version = TAP_EVENTS_VERSION,
	.prepare = prepare,
	.nvtx_entry = tap_tp_nvtx_entry,
	.nvtx_exit = tap_tp_nvtx_exit,
	.range_entry = tap_tp_range_entry,
	.range_exit = tap_tp_range_exit,
	.mark = tap_tp_mark,
	.cuda = {.rows = cuda_rows, .function = tap_tp_function},
	TAP_EVENTS_OF_PROCESS(POINTER)
	.set_statedump = tap_tp_set_statedump,
	.fork_before = lttng_ust_before_fork,
	.fork_parent = lttng_ust_after_fork_parent,
	.fork_child = lttng_ust_after_fork_child,
	.close_from = lttng_ust_safe_closefrom_fd,
	.close_one = lttng_ust_safe_close_fd,
	.fd_lock = lttng_ust_lock_fd_tracker,
	.fd_unlock = lttng_ust_unlock_fd_tracker,
	.fd_add = lttng_ust_add_fd_to_tracker,
	.fd_remove = lttng_ust_delete_fd_from_tracker,
};
/* clang-format on */

/* The switches are addresses in LTTng's tables, known only at run time. */
__attribute__((constructor)) static void fill(void)
{
	tap_events.fd_numbers = count_fd_numbers();
	tap_tp_nccl_fill(tap_events.nccl, tap_events.nvtx_call_on);
	tap_tp_nvtx_fill(tap_events.nvtx_range_on);
	tap_tp_verbs_fill(&tap_events.verbs);
	tap_tp_cuda_fill(tap_events.cuda.rows);
	tap_tp_cuda_hot_fill(tap_events.cuda.rows);
	tap_tp_nccl_args_fill(&tap_events.cuda);
	tap_tp_gpu_fill(&tap_events.gpu);
	tap_tp_net_fill(&tap_events.net);
	tap_events.open_call_on = tap_tp_open_call_on();
	tap_events.sample_on = tap_tp_sample_on();
}
