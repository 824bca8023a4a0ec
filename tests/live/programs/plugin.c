/* SPDX-License-Identifier: MIT */
/* Opened and closed: two libraries of this are alike but for their names. */
int ncclGetVersion(int *version);
void plugin_call(void);

void plugin_call(void)
{
	int version;

	ncclGetVersion(&version);
	__asm__ volatile("" ::: "memory");
}
