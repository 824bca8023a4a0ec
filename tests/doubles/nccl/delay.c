/* SPDX-License-Identifier: MIT */
/* Draws delays with xorshift64*, one sequence per rank and connection. */
#include "delay.h"

#include "comm.h"
#include "settings.h"
#include "truth.h"

#include <time.h>

#define NS_PER_US 1000ULL
#define NS_PER_S 1000000000ULL
/* Of splitmix64, with which a seed becomes a state; multiplied by it, numbers that are
 * near each other are not any more. */
#define SPREAD 0x9e3779b97f4a7c15ULL

static uint64_t begin_of(int rank, uint64_t stream)
{
	uint64_t state = (uint64_t) mini_number(SET_MININCCL_SEED) * SPREAD;

	state ^= ((uint64_t) rank + 1) * SPREAD;
	state = (state ^ state >> 30) * SPREAD ^ (stream + 1) * SPREAD;
	return state ? state : SPREAD;
}

static uint64_t draw(uint64_t *state, uint64_t most)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return most ? *state * 0x2545f4914f6cdd1dULL % (most + 1) : 0;
}

static bool is_late(int rank)
{
	int64_t late = mini_number(SET_MININCCL_DELAY_RANK);

	return late < 0 || late == rank;
}

bool mini_delay_is_over(struct mini_delay *delay, int rank, uint64_t stream)
{
	uint64_t fixed;
	uint64_t jitter;

	if (!delay->due_ns) {
		fixed = (uint64_t) mini_number(SET_MININCCL_DELAY_US);
		jitter = (uint64_t) mini_number(SET_MININCCL_JITTER_US);
		delay->due_ns = 1;
		if ((fixed || jitter) && is_late(rank)) {
			if (!delay->state)
				delay->state = begin_of(rank, stream);
			delay->due_ns = mini_truth_now() +
					(fixed + draw(&delay->state, jitter)) * NS_PER_US;
		}
	}
	return delay->due_ns == 1 || mini_truth_now() >= delay->due_ns;
}

void mini_delay_next(struct mini_delay *delay)
{
	delay->due_ns = 0;
}

void mini_delay_launch(const struct ncclComm *comm, uint64_t number)
{
	uint64_t ns = (uint64_t) mini_number(SET_MININCCL_LAUNCH_DELAY_US) * NS_PER_US;
	uint64_t jitter = (uint64_t) mini_number(SET_MININCCL_LAUNCH_JITTER_US);
	uint64_t state = begin_of(comm->rank, ~number);
	struct timespec time;

	ns += draw(&state, jitter * NS_PER_US);
	if (!ns || !is_late(comm->rank))
		return;
	time.tv_sec = (time_t) (ns / NS_PER_S);
	time.tv_nsec = (long) (ns % NS_PER_S);
	nanosleep(&time, NULL);
}
