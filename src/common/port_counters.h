/* SPDX-License-Identifier: MIT */
/*
 * The counters of a port in sysfs that tell of losses, congestion and traffic, as the
 * drivers mlx5, mlx4, bnxt_re, irdma, efa, hns and rxe call them (Linux,
 * drivers/infiniband: files below ports/N).  No driver has all of them.
 */
#ifndef TAP_COMMON_PORT_COUNTERS_H
#define TAP_COMMON_PORT_COUNTERS_H

/* Words of four bytes, whatever the driver. */
#define TAP_PORT_SENT "counters/port_xmit_data"
#define TAP_PORT_RECEIVED "counters/port_rcv_data"
#define TAP_PORT_WORD_BYTES 4

static const char *const tap_port_counters[] = {
	TAP_PORT_SENT,
	TAP_PORT_RECEIVED,
	"counters/port_xmit_wait",
	"counters/port_xmit_discards",
	"counters/port_rcv_errors",
	"counters/symbol_error",
	"counters/link_error_recovery",
	"counters/link_downed",
	"counters/local_link_integrity_errors",
	"counters/excessive_buffer_overrun_errors",
	"hw_counters/out_of_sequence",
	"hw_counters/out_of_buffer",
	"hw_counters/packet_seq_err",
	"hw_counters/local_ack_timeout_err",
	"hw_counters/implied_nak_seq_err",
	"hw_counters/rnr_nak_retry_err",
	"hw_counters/duplicate_request",
	"hw_counters/req_cqe_error",
	"hw_counters/resp_cqe_error",
	"hw_counters/roce_adp_retrans",
	"hw_counters/roce_adp_retrans_to",
	"hw_counters/roce_slow_restart",
	"hw_counters/rx_icrc_encapsulated",
	"hw_counters/np_cnp_sent",
	"hw_counters/np_ecn_marked_roce_packets",
	"hw_counters/rp_cnp_handled",
	"hw_counters/rp_cnp_ignored",
	"hw_counters/to_retransmits",
	"hw_counters/seq_err_naks_rcvd",
	"hw_counters/max_retry_exceeded",
	"hw_counters/rnr_naks_rcvd",
	"hw_counters/retrans_pkts",
	"hw_counters/retrans_timeout_events",
	"hw_counters/unresponsive_remote_events",
	"hw_counters/out_of_seq_request",
	"hw_counters/rcvd_seq_err",
	"hw_counters/rcvd_rnr_err",
	"hw_counters/send_rnr_err",
	"hw_counters/completer_retry_err",
	"hw_counters/retry_exceeded_err",
	"hw_counters/retry_rnr_exceeded_err",
	"hw_counters/send_err",
};

#endif
