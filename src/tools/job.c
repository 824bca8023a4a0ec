/* SPDX-License-Identifier: MIT */
/* Reads what launchers put into the environment. */
#include "tools/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/launcher.h"

/*
 * The variables that distinguish jobs; all that are set count together: a batch job may
 * have several steps, a step several runs.
 */
static const char *const jobs[] = {
	"CCLTAP_JOB",	"PMIX_NAMESPACE",      "OMPI_MCA_ess_base_jobid",
	"SLURM_JOB_ID", "SLURM_STEP_ID",       "PBS_JOBID",
	"LSB_JOBID",	"TORCHELASTIC_RUN_ID", "MASTER_ADDR",
	"MASTER_PORT",
};

static void mix(uint64_t *hash, const char *text)
{
	/* Includes the terminating 0, so that "a", "b" differs from "ab", "". */
	do
		*hash = (*hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
	while (*text++);
}

/*
 * When the parent process began, in ticks since boot: its number alone may be reused. The
 * name in the second field may contain spaces and brackets.
 */
static unsigned long long parent_start(pid_t parent)
{
	char path[64], line[1024] = "";
	unsigned long long start = 0;
	char *after;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", parent);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && (after = strrchr(line, ')')))
		sscanf(after + 1,
		       "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %*s %*s %*s %*s %llu",
		       &start);
	fclose(file);
	return start;
}

struct tap_job tap_job_find(void)
{
	struct tap_job job = {.key = UINT64_C(0xcbf29ce484222325), .rank = tap_launcher_ask().rank};
	const char *named = getenv("CCLTAP_JOB");
	bool is_reported = false;
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		const char *value = getenv(jobs[i]);

		if (!value || !*value)
			continue;
		is_reported = true;
		mix(&job.key, jobs[i]);
		mix(&job.key, value);
	}
	/*
	 * Ranks that a shell or an unknown launcher started have their parent process in
	 * common.
	 */
	if (!is_reported) {
		snprintf(text, sizeof(text), "%d %llu", getppid(),
			 parent_start(getppid()));
		mix(&job.key, text);
	}
	job.is_shared = job.rank >= 0 || (named && *named);
	return job;
}
