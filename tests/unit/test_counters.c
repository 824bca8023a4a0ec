/* SPDX-License-Identifier: MIT */
/* Counters in the kernel's text files, how they grow, and when a slow source is given up. */
#include "common/counters.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "unit/tap.h"

static bool test_text(void)
{
	static const char text[] = "Name:\tvoluntary\nvoluntary_ctxt_switches:\t17\n"
				   "nonvoluntary_ctxt_switches:\t4\nnone:\n";
	bool is_passed = true;
	uint64_t value = 99;

	CHECK(tap_counters_find(text, "voluntary_ctxt_switches", &value) && value == 17);
	CHECK(tap_counters_find(text, "nonvoluntary_ctxt_switches", &value) &&
	      value == 4);
	CHECK(!tap_counters_find(text, "none", &value));
	CHECK(!tap_counters_find(text, "ctxt_switches", &value));
	CHECK(!tap_counters_number("N/A (no PMA)", &value));
	CHECK(value == 4);
	return is_passed;
}

static bool test_growth(void)
{
	struct tap_counters counters = {0};
	struct tap_counters_sample sample;
	bool is_passed = true;

	tap_counters_begin(&counters, &sample, 1000);
	tap_counters_note(&counters, &sample, 0, "sent", 5);
	tap_counters_note(&counters, &sample, 1, "lost", 0);
	CHECK(tap_counters_end(&counters, &sample));
	CHECK(sample.nr == 2 && !sample.interval_ns && !sample.growth[0]);

	tap_counters_begin(&counters, &sample, 3000);
	tap_counters_note(&counters, &sample, 0, "sent", 5);
	tap_counters_note(&counters, &sample, 1, "lost", 3);
	CHECK(tap_counters_end(&counters, &sample));
	CHECK(sample.nr == 1 && sample.interval_ns == 2000);
	CHECK(!strcmp(sample.names, "lost") && sample.values[0] == 3 &&
	      sample.growth[0] == 3);

	/* A device that was reset has not lost anything. */
	tap_counters_begin(&counters, &sample, 4000);
	tap_counters_note(&counters, &sample, 1, "lost", 1);
	CHECK(tap_counters_end(&counters, &sample) && !sample.growth[0]);

	tap_counters_begin(&counters, &sample, 5000);
	tap_counters_note(&counters, &sample, 1, "lost", 1);
	CHECK(!tap_counters_end(&counters, &sample));
	return is_passed;
}

/* One look, which began so long ago; whether the source is given up by it. */
static bool is_last_look(struct tap_counters_looks *looks, int64_t ns, bool *ret_may_look)
{
	*ret_may_look = tap_counters_look(looks);
	looks->begin_ns -= ns;
	return tap_counters_look_end(looks);
}

static bool test_looks(void)
{
	struct tap_counters_looks looks = {0};
	bool is_passed = true, may_look;

	CHECK(tap_counters_look(&looks) && !tap_counters_look_is_long(&looks));
	looks.begin_ns -= TAP_SECOND_NS;
	CHECK(tap_counters_look_is_long(&looks) && !tap_counters_look_end(&looks));
	CHECK(!is_last_look(&looks, TAP_SECOND_NS, &may_look) && may_look);
	/* A look that is quick says that the machine was slow, and not the source. */
	CHECK(!is_last_look(&looks, -TAP_SECOND_NS, &may_look) && may_look);
	CHECK(!is_last_look(&looks, TAP_SECOND_NS, &may_look) && may_look);
	CHECK(!is_last_look(&looks, TAP_SECOND_NS, &may_look) && may_look);
	CHECK(is_last_look(&looks, TAP_SECOND_NS, &may_look) && may_look);
	CHECK(!tap_counters_look(&looks));
	return is_passed;
}

int main(void)
{
	report("numbers are found in the kernel's text", test_text);
	report("a counter is shown as it grows", test_growth);
	report("a source that is slow three times in a row is given up", test_looks);
	printf("1..%u\n", tap_number);
	return 0;
}
