/* SPDX-License-Identifier: MIT */
/*
 * What libibverbs has besides: the names that provider libraries and librdmacm are bound
 * to when they are loaded (perftest loads some), and calls that these adapters do not
 * support. There is no kernel behind them, so each fails as it does where the kernel
 * lacks it.  No header is included: the providers' is private, and the types do not
 * matter here.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

int soft_refuse(void);
int soft_refuse_minus_one(void);
void *soft_refuse_pointer(void);
int soft_succeed(void);
void soft_ignore(void);

/* Two ways in which calls of libibverbs say it: an errno, or -1 or NULL with errno set.
 */
int soft_refuse(void)
{
	return EOPNOTSUPP;
}

int soft_refuse_minus_one(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

void *soft_refuse_pointer(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int soft_succeed(void)
{
	return 0;
}

void soft_ignore(void)
{
}

/* clang-format off */
#define AS(type, name, other) \
	type name(void); \
	type name(void) __attribute__((alias(#other)));
#define ERRNO(name) AS(int, name, soft_refuse)
#define MINUS_ONE(name) AS(int, name, soft_refuse_minus_one)
#define POINTER(name) AS(void *, name, soft_refuse_pointer)
#define SUCCESS(name) AS(int, name, soft_succeed)
#define NOTHING(name) AS(void, name, soft_ignore)

/* Multicast, importing, extended connection establishment, what sysfs would say. */
ERRNO(ibv_attach_mcast)
ERRNO(ibv_detach_mcast)
ERRNO(ibv_query_ece)
ERRNO(ibv_set_ece)
POINTER(ibv_import_device)
POINTER(ibv_import_dm)
POINTER(ibv_import_mr)
POINTER(ibv_import_pd)
NOTHING(ibv_unimport_dm)
NOTHING(ibv_unimport_mr)
NOTHING(ibv_unimport_pd)
MINUS_ONE(ibv_read_sysfs_file)
MINUS_ONE(ibv_read_ibdev_sysfs_file)
MINUS_ONE(ibv_resolve_eth_l2_from_gid)

/* Memory is never pinned, so a fork needs no help: 0 is also IBV_FORK_DISABLED. */
SUCCESS(ibv_fork_init)
SUCCESS(ibv_is_fork_initialized)
SUCCESS(ibv_dofork_range)
SUCCESS(ibv_dontfork_range)

/* Providers announce themselves; nothing is done with them. */
NOTHING(ibv_register_driver)
NOTHING(verbs_register_driver_34)
NOTHING(verbs_set_ops)
NOTHING(verbs_uninit_context)
NOTHING(__verbs_log)
NOTHING(ibv_copy_ah_attr_from_kern)
NOTHING(ibv_copy_path_rec_from_kern)
NOTHING(ibv_copy_path_rec_to_kern)
NOTHING(ibv_copy_qp_attr_from_kern)
POINTER(verbs_open_device)
POINTER(_verbs_init_and_alloc_context)
ERRNO(verbs_init_cq)
ERRNO(execute_ioctl)
ERRNO(ibv_query_gid_type)
SUCCESS(__ioctl_final_num_attrs)
ERRNO(ibv_cmd_advise_mr)
ERRNO(ibv_cmd_alloc_dm)
ERRNO(ibv_cmd_alloc_mw)
ERRNO(ibv_cmd_alloc_pd)
ERRNO(ibv_cmd_attach_mcast)
ERRNO(ibv_cmd_close_xrcd)
ERRNO(ibv_cmd_create_ah)
ERRNO(ibv_cmd_create_counters)
ERRNO(ibv_cmd_create_cq)
ERRNO(ibv_cmd_create_cq_ex)
ERRNO(ibv_cmd_create_flow)
ERRNO(ibv_cmd_create_flow_action_esp)
ERRNO(ibv_cmd_create_qp)
ERRNO(ibv_cmd_create_qp_ex)
ERRNO(ibv_cmd_create_qp_ex2)
ERRNO(ibv_cmd_create_rwq_ind_table)
ERRNO(ibv_cmd_create_srq)
ERRNO(ibv_cmd_create_srq_ex)
ERRNO(ibv_cmd_create_wq)
ERRNO(ibv_cmd_dealloc_mw)
ERRNO(ibv_cmd_dealloc_pd)
ERRNO(ibv_cmd_dereg_mr)
ERRNO(ibv_cmd_destroy_ah)
ERRNO(ibv_cmd_destroy_counters)
ERRNO(ibv_cmd_destroy_cq)
ERRNO(ibv_cmd_destroy_flow)
ERRNO(ibv_cmd_destroy_flow_action)
ERRNO(ibv_cmd_destroy_qp)
ERRNO(ibv_cmd_destroy_rwq_ind_table)
ERRNO(ibv_cmd_destroy_srq)
ERRNO(ibv_cmd_destroy_wq)
ERRNO(ibv_cmd_detach_mcast)
ERRNO(ibv_cmd_free_dm)
ERRNO(ibv_cmd_get_context)
ERRNO(ibv_cmd_modify_cq)
ERRNO(ibv_cmd_modify_flow_action_esp)
ERRNO(ibv_cmd_modify_qp)
ERRNO(ibv_cmd_modify_qp_ex)
ERRNO(ibv_cmd_modify_srq)
ERRNO(ibv_cmd_modify_wq)
ERRNO(ibv_cmd_open_qp)
ERRNO(ibv_cmd_open_xrcd)
ERRNO(ibv_cmd_poll_cq)
ERRNO(ibv_cmd_post_recv)
ERRNO(ibv_cmd_post_send)
ERRNO(ibv_cmd_post_srq_recv)
ERRNO(ibv_cmd_query_context)
ERRNO(ibv_cmd_query_device_any)
ERRNO(ibv_cmd_query_mr)
ERRNO(ibv_cmd_query_port)
ERRNO(ibv_cmd_query_qp)
ERRNO(ibv_cmd_query_srq)
ERRNO(ibv_cmd_read_counters)
ERRNO(ibv_cmd_reg_dm_mr)
ERRNO(ibv_cmd_reg_dmabuf_mr)
ERRNO(ibv_cmd_reg_mr)
ERRNO(ibv_cmd_req_notify_cq)
ERRNO(ibv_cmd_rereg_mr)
ERRNO(ibv_cmd_resize_cq)

/* clang-format on */

extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

const char *ibv_get_sysfs_path(void);
const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}
