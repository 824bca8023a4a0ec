/* SPDX-License-Identifier: MIT */
/* `ccltap env --metrics`: which supervisor of this host counts. Hides how it is asked. */
#ifndef TAP_TOOLS_ENV_METRICS_H
#define TAP_TOOLS_ENV_METRICS_H

/*
 * Finds the supervisor with metrics whose session or file is `wanted`, or the only one
 * where that is NULL. Sets *ret_recorder to the value for CCLTAP_RECORDER, which the
 * caller frees. Returns 0, or an exit status after a message to the user.
 */
int tap_env_metrics_find(const char *wanted, char **ret_recorder);

#endif
