/* SPDX-License-Identifier: MIT */
/* The names of roles, and how certain each is. */
#include "join/model/nccl_thread.h"

const char *tap_thread_role_name(enum tap_thread_role role)
{
	static const char *const names[TAP_THREAD_ROLES] = {
		[TAP_THREAD_UNKNOWN] = "unknown",
		[TAP_THREAD_BOOTSTRAP] = "bootstrap",
		[TAP_THREAD_SERVICE] = "service",
		[TAP_THREAD_UDS] = "uds",
		[TAP_THREAD_PROGRESS] = "progress",
		[TAP_THREAD_JOB] = "job",
		[TAP_THREAD_SOCKET] = "socket-helper",
		[TAP_THREAD_DEVICE] = "device-events",
		[TAP_THREAD_RAS] = "ras",
		[TAP_THREAD_GIN] = "gin",
	};

	return names[role];
}

const char *tap_thread_how_name(enum tap_thread_how how)
{
	static const char *const names[] = {
		[TAP_THREAD_HOW_CALL] = "call",
		[TAP_THREAD_HOW_CREATOR] = "creator",
		[TAP_THREAD_HOW_ARGUMENT] = "argument",
		[TAP_THREAD_HOW_DOES] = "behaviour",
		[TAP_THREAD_HOW_ROUTINE] = "routine",
		[TAP_THREAD_HOW_NO_ARGUMENT] = "no argument",
		[TAP_THREAD_HOW_WORK] = "asked for work",
		[TAP_THREAD_HOW_REST] = "no other role is left",
	};

	return names[how];
}

enum tap_known tap_thread_known(enum tap_thread_how how)
{
	switch (how) {
	case TAP_THREAD_HOW_CALL:
	case TAP_THREAD_HOW_CREATOR:
	case TAP_THREAD_HOW_ARGUMENT:
	case TAP_THREAD_HOW_DOES:
	case TAP_THREAD_HOW_ROUTINE:
		return TAP_KNOWN_EXACT;
	default:
		return TAP_KNOWN_INFERRED;
	}
}
