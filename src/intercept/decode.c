/* SPDX-License-Identifier: MIT */
#include "intercept/decode.h"

#include <stdlib.h>
#include <string.h>

bool tap_is_decoding = true;

void tap_decode_prepare(void)
{
	const char *value = getenv("CCLTAP_DECODE");

	tap_is_decoding = !value || strcmp(value, "0") != 0;
}
