/* SPDX-License-Identifier: MIT */
/*
 * Sizes by release, from the DWARF of NVIDIA's libraries: ncclProxyInitResp, setupReq and
 * connectMap of transport/net.cc, netSendConnectArgs, netRecvConnectArgs, ncclConnect.
 */
#include "service_form.h"

#include "release.h"

#include <stddef.h>

static const struct {
	/* The first release that it is of. */
	int since;
	struct mini_call_sizes sizes;
} forms[] = {
	{23000, {24, 16, 40, 172, 48, 1400, 256, true}},
	{22800, {16, 6, 36, 172, 48, 1400, 256, true}},
	{22600, {16, 6, 36, 132, 4, 1400, 256, true}},
	{22300, {16, 6, 36, 128, 4, 1480, 256, true}},
	{21900, {16, 6, 36, 128, 4, 21040, 128, true}},
	{21800, {16, 6, 36, 128, 4, 21040, 128, false}},
};

const struct mini_call_sizes *mini_call_sizes(void)
{
	size_t last = sizeof(forms) / sizeof(forms[0]) - 1;
	size_t i = 0;

	while (i < last && mini_release() < forms[i].since)
		i++;
	return &forms[i].sizes;
}
