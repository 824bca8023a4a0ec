/* SPDX-License-Identifier: MIT */
/* Reads the environment anew each time. */
#include "common/launcher.h"

#include <errno.h>
#include <stdlib.h>

/*
 * In the order of trust: first a launcher that starts one process per rank, last the
 * batch system, which may know only one process per node.
 */
static const struct {
	const char *rank, *world_size, *local_rank;
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK"}, /* torchrun */
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}, /* MPICH, Intel MPI */
	{"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

static int32_t number(const char *variable)
{
	const char *value = getenv(variable);
	char *end;
	long n;

	if (!value || !*value)
		return -1;
	errno = 0;
	n = strtol(value, &end, 10);
	return errno || *end || n < 0 || n > INT32_MAX ? -1 : (int32_t) n;
}

struct tap_launcher tap_launcher_ask(void)
{
	struct tap_launcher reported = {-1, -1, -1, ""};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(launchers); i++) {
		reported.rank = number(launchers[i].rank);
		if (reported.rank < 0)
			continue;
		reported.rank_from = launchers[i].rank;
		reported.world_size = number(launchers[i].world_size);
		reported.local_rank = number(launchers[i].local_rank);
		break;
	}
	return reported;
}

/* ccltap's own variable first: it distinguishes two recordings of one batch job. */
static const char *const job_variables[] = {"CCLTAP_JOB", "SLURM_JOB_ID", "PBS_JOBID",
					    "LSB_JOBID"};

const char *tap_launcher_job(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(job_variables); i++) {
		const char *value = getenv(job_variables[i]);

		if (value && *value)
			return value;
	}
	return "";
}
