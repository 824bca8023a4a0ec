/* SPDX-License-Identifier: MIT */
/* Memory of the program's: what is there is read, what is not is no fault. */
#include "common/safe_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/tap.h"

static const void *const wild = (const void *) (uintptr_t) 0xdead000;
static const void *const no_address = (const void *) (uintptr_t) 0x8000000000000000;

static char *begin; /* two pages of x, and one behind them that cannot be read */
static size_t page;

static void make_pages(void)
{
	page = (size_t) sysconf(_SC_PAGESIZE);
	begin = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (begin == MAP_FAILED || mprotect(begin + 2 * page, page, PROT_NONE))
		exit(1);
	memset(begin, 'x', 2 * page);
}

static bool test_bytes(void)
{
	char copy[16] = "";
	bool is_passed = true;

	CHECK(tap_safe_read(copy, begin + page - 3, 6) == copy);
	CHECK(!strcmp(copy, "xxxxxx"));
	CHECK(tap_safe_read(copy, begin + 2 * page - 6, 6) == copy);
	CHECK(tap_safe_read(copy, begin, 0) == copy);
	return is_passed;
}

static bool test_no_bytes(void)
{
	char copy[16] = "before";
	bool is_passed = true;

	CHECK(!tap_safe_read(copy, begin + 2 * page - 5, 6));
	CHECK(!tap_safe_read(copy, NULL, 6));
	CHECK(!tap_safe_read(copy, wild, 6));
	CHECK(!tap_safe_read(copy, no_address, 6));
	CHECK(!tap_safe_read(copy, (const void *) (UINTPTR_MAX - 2), 6));
	CHECK(!strcmp(copy, "before"));
	return is_passed;
}

static bool test_pointers(void)
{
	void *pointer = &pointer;
	bool is_passed = true;

	CHECK(tap_safe_pointer(&pointer) == &pointer);
	CHECK(tap_safe_pointer((void **) (void *) (begin + 2 * page - sizeof(pointer))));
	CHECK(!tap_safe_pointer((void **) (void *) (begin + 2 * page - 4)));
	CHECK(!tap_safe_pointer((void **) (uintptr_t) wild));
	CHECK(!tap_safe_pointer(NULL));
	return is_passed;
}

static bool test_strings(void)
{
	bool is_passed = true;
	char copy[8];

	CHECK(!strcmp(tap_safe_read_string(copy, sizeof(copy), "abc"), "abc"));
	CHECK(!strcmp(tap_safe_read_string(copy, sizeof(copy), "abcdefghij"), "abcdefg"));
	CHECK(!strcmp(tap_safe_read_string(copy, sizeof(copy), begin + page - 2),
		      "xxxxxxx"));
	CHECK(!strcmp(tap_safe_read_string(copy, sizeof(copy), begin + 2 * page - 4),
		      "xxxx"));
	return is_passed;
}

static bool test_no_strings(void)
{
	bool is_passed = true;
	char copy[8];

	CHECK(!*tap_safe_read_string(copy, sizeof(copy), begin + 2 * page));
	CHECK(!*tap_safe_read_string(copy, sizeof(copy), wild));
	CHECK(!*tap_safe_read_string(copy, sizeof(copy), no_address));
	CHECK(!*tap_safe_read_string(copy, sizeof(copy), NULL));
	return is_passed;
}

static bool test_errno(void)
{
	bool is_passed = true;
	char copy[8];

	errno = 113;
	tap_safe_read(copy, begin, 4);
	CHECK(errno == 113);
	tap_safe_read_string(copy, sizeof(copy), wild);
	CHECK(errno == 113);
	return is_passed;
}

int main(void)
{
	make_pages();
	report("what is there is copied, also from two pages", test_bytes);
	report("what is not all there is not, and that is no fault", test_no_bytes);
	report("a pointer is, or is none", test_pointers);
	report("a string is copied as far as there is room and memory", test_strings);
	report("one that is not there is empty", test_no_strings);
	report("errno is what it was", test_errno);
	printf("1..%u\n", tap_number);
	return 0;
}
