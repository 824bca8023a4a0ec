/* SPDX-License-Identifier: MIT */
/*
 * What a program's environment must hold so that it is traced.  `record` and `env`
 * share it, so that recording by hand loads the same libraries in the same order.
 */
#ifndef TAP_TOOLS_ENV_H
#define TAP_TOOLS_ENV_H

/*
 * Composes the value of LD_PRELOAD: the runtimes of sanitizers (they refuse to start
 * after another library), which are those that it already has or else those that the
 * program's file needs, the tracer, LTTng's guard of its descriptors, then what else was
 * there.  present and program may be NULL.  On success *ret_preload belongs to the
 * caller. Returns 0, or -errno once it has told the user why.
 */
int tap_env_compose_preload(const char *present, const char *program, char **ret_preload);

/*
 * The value of NVTX_INJECTION64_PATH, to which NCCL announces its calls: the tracer,
 * unless present, which may be NULL, names somebody else; then *ret_path is NULL.  Else
 * as above.
 */
int tap_env_compose_nvtx(const char *present, char **ret_path);

/* What is asked of CUPTI, which the tracer reads from this variable. */
#define TAP_ENV_GPU_VARIABLE "CCLTAP_GPU"
#define TAP_ENV_GPU_OPTION(key) \
	{ "gpu", key, "WHAT", 0, \
	  "of what runs on the GPU record: off, kernels (copies and sets too), all " \
	  "(calls, waits and CUPTI's own cost too) [kernels]", 0 }

/* The argument of that option; NULL once it has told the user what is wrong with it. */
const char *tap_env_gpu(const char *text);

#endif
