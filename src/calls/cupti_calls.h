/* SPDX-License-Identifier: MIT */
/*
 * What the rows of cupti.def declare: the type <name>_function of each function; and the
 * versions of the symbols in CUPTI's libraries, which are each library's own soname.  It
 * hides which libraries have a function.
 */
#ifndef TAP_CALLS_CUPTI_CALLS_H
#define TAP_CALLS_CUPTI_CALLS_H

#include "common/args.h"

/* clang-format off */
/* X(name in the tracer's symbols, version, further arguments...). */
#define TAP_CUPTI_SINCE_13(X, ...) X(v13, "libcupti.so.13", ##__VA_ARGS__)
#define TAP_CUPTI_SINCE_11(X, ...) \
	X(v110, "libcupti.so.11.0", ##__VA_ARGS__) \
	X(v111, "libcupti.so.11.1", ##__VA_ARGS__) \
	X(v112, "libcupti.so.11.2", ##__VA_ARGS__) \
	X(v113, "libcupti.so.11.3", ##__VA_ARGS__) \
	X(v114, "libcupti.so.11.4", ##__VA_ARGS__) \
	X(v115, "libcupti.so.11.5", ##__VA_ARGS__) \
	X(v116, "libcupti.so.11.6", ##__VA_ARGS__) \
	X(v117, "libcupti.so.11.7", ##__VA_ARGS__) \
	X(v118, "libcupti.so.11.8", ##__VA_ARGS__) \
	X(v12, "libcupti.so.12", ##__VA_ARGS__) \
	TAP_CUPTI_SINCE_13(X, ##__VA_ARGS__)

#define CALL(since, class, name, ...) typedef int (*name##_function)(PARAMS(__VA_ARGS__));
#include "calls/cupti.def"
#undef CALL
/* clang-format on */

#endif
