/* SPDX-License-Identifier: MIT */
/*
 * The environment variables that make a program traced. `record` and `env` share this
 * module, so that recording by hand loads the same libraries in the same order. Hides
 * what belongs in LD_PRELOAD and NVTX_INJECTION64_PATH.
 */
#ifndef TAP_TOOLS_ENV_H
#define TAP_TOOLS_ENV_H

#include <stdbool.h>

/*
 * Composes the value of LD_PRELOAD: first the runtimes of sanitizers, which refuse to
 * start after another library (those in present, or else those that the program's file
 * needs), then the tracer, LTTng's guard of its descriptors, and the rest of present.
 * present and program may be NULL. With metrics alone nothing of LTTng is loaded: the guard
 * is left out. On success the caller owns *ret_preload. Returns 0, or -errno after a message
 * to the user.
 */
int tap_env_compose_preload(const char *present, const char *program,
			    bool is_metrics_alone, char **ret_preload);

/*
 * Composes the value of NVTX_INJECTION64_PATH, the library to which NCCL announces its
 * calls: the tracer, unless present, which may be NULL, names another library; then
 * *ret_path is NULL. Ownership and errors as above.
 */
int tap_env_compose_nvtx(const char *present, char **ret_path);

/* Tells the tracer to count, "1", or to count and record nothing, "alone". */
#define TAP_ENV_METRICS_VARIABLE "CCLTAP_METRICS"

/* Tells the tracer what to request from CUPTI. */
#define TAP_ENV_GPU_VARIABLE "CCLTAP_GPU"
#define TAP_ENV_GPU_OPTION(key) \
	{ "gpu", key, "WHAT", 0, \
	  "what to record of the GPU: off, kernels (with copies and memsets), all " \
	  "(calls, waits and CUPTI's own cost too) [kernels]", 0 }

/*
 * Returns the option's argument; NULL, after a message to the user, when it is invalid.
 */
const char *tap_env_gpu(const char *text);

#endif
