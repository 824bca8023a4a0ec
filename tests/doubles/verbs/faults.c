/* SPDX-License-Identifier: MIT */
/*
 * The faults that the environment asks for.  What is left to chance follows from the seed
 * and from which request it is, not from when it is asked, so that a run can be repeated
 * however its threads take turns.
 */
#include "soft.h"

/* What is decided, so that one does not go with the other. */
enum chance {
	CHANCE_LOSS,
	CHANCE_RESEND,
	CHANCE_LATE,
};

/* When each adapter of this process has sent what it was given so far. */
static uint64_t free_at[SOFT_MAX_DEVICES];
static bool is_silent;

/* splitmix64, of Steele, Lea and Flood, 2014: each bit depends on each. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static bool happens(const struct soft_qp *qp, const struct soft_send *send,
		    enum chance what, double percent)
{
	const struct soft_place *place = &soft_context(qp->ex.qp_base.context)->place;
	uint64_t bits = soft_settings()->seed;

	if (percent <= 0)
		return false;
	bits = mix(bits ^ (uint64_t) what << 56 ^ (uint64_t) place->host << 48 ^
		   (uint64_t) place->device << 40 ^ qp->ex.qp_base.qp_num);
	bits = mix(bits ^ send->number);
	return (double) (bits >> 11) * 0x1p-53 * 100 < percent;
}

static bool is_reliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_RC;
}

static uint64_t delay(const struct soft_qp *qp, const struct soft_send *send)
{
	const struct soft_settings *settings = soft_settings();
	uint64_t ns = settings->delay_ns;

	if (qp->ex.qp_base.qp_type != IBV_QPT_UD &&
	    qp->remote.host == settings->slow_host)
		ns += settings->slow_ns;
	if (is_reliable(qp) && happens(qp, send, CHANCE_RESEND, settings->resend_percent))
		ns += settings->resend_ns;
	return ns;
}

uint64_t soft_fault_due(const struct soft_qp *qp, const struct soft_send *send,
			uint64_t bytes)
{
	int device = soft_context(qp->ex.qp_base.context)->place.device;
	uint64_t rate = soft_settings()->bytes_per_us[device];
	uint64_t ns = delay(qp, send);
	uint64_t due;

	if (!ns && !rate)
		return 0;
	due = soft_now();
	/* One message after the other, of whatever queue pair. */
	if (rate) {
		if (due < free_at[device])
			due = free_at[device];
		due += bytes * 1000 / rate;
		free_at[device] = due;
	}
	return due + ns;
}

bool soft_fault_loses(const struct soft_qp *qp, const struct soft_send *send)
{
	const struct soft_settings *settings = soft_settings();

	if (is_reliable(qp))
		return false;
	return (settings->loss_every && send->number % settings->loss_every == 0) ||
	       happens(qp, send, CHANCE_LOSS, settings->loss_percent);
}

uint64_t soft_fault_late(const struct soft_qp *qp, const struct soft_send *send)
{
	const struct soft_settings *settings = soft_settings();

	return happens(qp, send, CHANCE_LATE, settings->late_percent) ? settings->late_ns
								      : 0;
}

enum ibv_wc_status soft_fault_status(const struct soft_qp *qp,
				     const struct soft_send *send, bool consumes_receive)
{
	const struct soft_settings *settings = soft_settings();

	if (!is_reliable(qp))
		return IBV_WC_SUCCESS;
	if (send->number == settings->rnr_at && consumes_receive)
		return IBV_WC_RNR_RETRY_EXC_ERR;
	if (send->number == settings->retry_at)
		return IBV_WC_RETRY_EXC_ERR;
	return IBV_WC_SUCCESS;
}

bool soft_fault_is_silent(void)
{
	return is_silent;
}

bool soft_fault_silences(const struct soft_send *send)
{
	if (is_silent || send->number != soft_settings()->lost_at)
		return false;
	is_silent = true;
	return true;
}
