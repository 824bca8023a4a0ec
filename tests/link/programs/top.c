/* SPDX-License-Identifier: MIT */
/* A library that needs the library that is linked to NCCL. */

int user_version(void);
void *user_default(const char *name);

int top_version(void);
void *top_default(const char *name);

int top_version(void)
{
	return user_version();
}

void *top_default(const char *name)
{
	return user_default(name);
}
