/* SPDX-License-Identifier: MIT */
/* What NCCL looks for in a network plugin: a table under the name of its version. */
struct table {
	const char *name;
};

extern const struct table ncclNetPlugin_v10;
const struct table ncclNetPlugin_v10 = {"none"};
