/* SPDX-License-Identifier: MIT */
/* The table of `ccltap top`: what two looks say of rates, of who is last, and of order.
 */
#include "tools/top_table.h"

#include <stdio.h>
#include <string.h>

#include "tools/top_text.h"
#include "unit/tap.h"

#define RANK(metric, rank, function, value) \
	"ccltap_nccl_communicator_" metric "{host=\"node1\",rank=\"" rank \
	"\",communicator=\"00000000000000aa\",nranks=\"3\"" function "} " value "\n"
#define OF(function) ",function=\"" function "\""

static const char before[] =
	"# HELP ccltap_processes Processes.\n"
	"# TYPE ccltap_processes gauge\n"
	"ccltap_processes{host=\"node1\",rank=\"0\"} 1\n"
	"ccltap_processes{host=\"node1\",rank=\"1\"} 1\n"
	"ccltap_nccl_call_failures_total{host=\"node1\",rank=\"0\",function=\"ncclGroupEnd\"} 2\n" RANK(
		"ranks", "0", "", "1") RANK("ranks", "1", "", "1") RANK("ranks", "2", "",
									"0")
		RANK("operations_total", "0", OF("ncclAllReduce"),
		     "10") RANK("operations_total", "0", OF("ncclSend"), "100")
			RANK("operations_total", "1", OF("ncclAllReduce"), "10")
				RANK("operations_total", "2", OF("ncclAllReduce"), "3")
					RANK("operation_bytes_total", "0",
					     OF("ncclAllReduce"), "1000")
						RANK("bus_bytes_total", "0",
						     OF("ncclAllReduce"), "1333");

static const char after[] =
	"ccltap_processes{host=\"node1\",rank=\"0\"} 1\n"
	"ccltap_processes{host=\"node1\",rank=\"1\"} 1\n" RANK(
		"ranks", "0", "",
		"1") RANK("ranks", "1", "",
			  "1") RANK("call_failures_total", "1", OF("ncclAllReduce"),
				    "3") RANK("operations_total", "0",
					      OF("ncclAllReduce"),
					      "14") RANK("operations_total", "0",
							 OF("ncclSend"), "106")
		RANK("operations_total", "1", OF("ncclAllReduce"),
		     "11") RANK("operation_bytes_total", "0", OF("ncclAllReduce"),
				"5001000") RANK("bus_bytes_total", "0",
						OF("ncclAllReduce"), "6666667999")
			RANK("dropped_operations_total", "1", "",
			     "2") "ccltap_nccl_open_call_seconds{host=\"node1\",function=\"ncclCommInitRank\"} 75.500\n"
				  "ccltap_nccl_open_call_seconds{host=\"node1\",rank=\"1\",communicator=\"00000000000000aa\","
				  "nranks=\"3\",function=\"ncclAllReduce\"} 3.000\n";

static int look(struct tap_top_table *table, const char *text, int64_t ms)
{
	return tap_top_table_look(table, text, strlen(text), ms);
}

static bool looks(void)
{
	struct tap_top_table table = {0};
	const struct tap_top_row *row;
	bool is_passed = true;

	CHECK(!look(&table, before, 1000));
	CHECK(table.processes == 2 && table.communicators == 1 && table.failures == 2);
	/* Rank 2 is gone, so it is not last either. */
	CHECK(table.rows.count == 2);
	row = &table.rows.items[0];
	CHECK(row->rank == 0 && row->nranks == 3 && row->operations == 110);
	CHECK(!row->has_rates && !row->behind && !row->is_last && row->looks == 1);
	CHECK(!strcmp(row->communicator, "00000000000000aa"));

	CHECK(!look(&table, after, 3000));
	CHECK(table.interval_s == 2 && table.rows.count == 3);
	row = &table.rows.items[0];
	CHECK(!*row->communicator && row->rank == -1 && row->open_s == 75.5);
	row = &table.rows.items[1];
	CHECK(row->has_rates && row->operations_s == 5 && row->bytes_s == 2500000);
	CHECK(row->bus_bytes_s == 3333333333.0 && !row->is_last);
	row = &table.rows.items[2];
	CHECK(row->behind == 3 && row->is_last && row->lasts == 1 && row->looks == 2);
	CHECK(row->failures == 3 && row->dropped == 2 && row->open_s == 3);

	/* The same text again is no other look. */
	CHECK(!look(&table, before, 3000));
	CHECK(table.rows.count == 3 && table.interval_s == 2);
	tap_top_table_free(&table);
	return is_passed;
}

static bool nonsense(void)
{
	static const char *const texts[] = {
		"",
		"\n",
		"#",
		"ccltap_processes",
		"ccltap_processes{",
		"ccltap_processes{}",
		"{host=\"x\"} 1",
		"ccltap_nccl_communicator_ranks{host=\"x} 1\n",
		"ccltap_nccl_communicator_ranks{,,,communicator=} 1\n",
		"ccltap_nccl_open_call_seconds 5\n",
		"ccltap_processes{host=\"a\"} -5\n",
	};
	struct tap_top_table table = {0};
	bool is_passed = true;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK(!look(&table, texts[i], (int64_t) i + 1));
	tap_top_table_free(&table);
	return is_passed;
}

/* A recording's name has up to 255 bytes, each of which may be three in a label. */
static bool long_labels(void)
{
	struct tap_top_table table = {0};
	bool is_passed = true;
	char line[2048], name[766];

	for (size_t i = 0; i + 3 < sizeof(name); i += 3)
		memcpy(name + i, "%c3", 4);
	snprintf(line, sizeof(line), "ccltap_processes{host=\"a\",recording=\"%s\"} 3\n", name);
	CHECK(!look(&table, line, 1) && table.processes == 3);
	tap_top_table_free(&table);
	return is_passed;
}

/* The ranks in the table's order, with '-' for none. */
static bool is_ordered(struct tap_top_table *table, enum tap_top_key key,
		       bool is_reversed, const char *ranks)
{
	tap_top_table_sort(table, key, is_reversed);
	for (size_t i = 0; i < table->rows.count; i++) {
		const int rank = table->rows.items[i].rank;

		if (ranks[i] != (rank < 0 ? '-' : (char) ('0' + rank)))
			return false;
	}
	return !ranks[table->rows.count];
}

static bool order(void)
{
	struct tap_top_table table = {0};
	enum tap_top_key key;
	bool is_passed = true;

	CHECK(!look(&table, before, 1000) && !look(&table, after, 3000));
	CHECK(is_ordered(&table, TAP_TOP_BY_COMMUNICATOR, false, "-01"));
	CHECK(is_ordered(&table, TAP_TOP_BY_COMMUNICATOR, true, "10-"));
	CHECK(is_ordered(&table, TAP_TOP_BY_OPERATIONS, false, "01-"));
	CHECK(is_ordered(&table, TAP_TOP_BY_BEHIND, false, "1-0"));
	CHECK(is_ordered(&table, TAP_TOP_BY_ERRORS, false, "1-0"));
	CHECK(is_ordered(&table, TAP_TOP_BY_OPEN, false, "-10"));
	for (int i = 0; i < TAP_NR_TOP_KEYS; i++) {
		CHECK(tap_top_key_parse(tap_top_key_name((enum tap_top_key) i), &key));
		CHECK((int) key == i);
	}
	CHECK(!tap_top_key_parse("nothing", &key));
	CHECK(is_ordered(&table, TAP_TOP_BY_RANK, false, "-01"));
	CHECK(tap_top_row_is_meant(&table.rows.items[1], "0"));
	CHECK(!tap_top_row_is_meant(&table.rows.items[1], "1"));
	CHECK(tap_top_row_is_meant(&table.rows.items[0], "INIT"));
	CHECK(tap_top_row_is_meant(&table.rows.items[2], "0aa"));
	CHECK(tap_top_row_is_meant(&table.rows.items[2], "NODE1"));
	CHECK(!tap_top_row_is_meant(&table.rows.items[2], "node2"));
	tap_top_table_free(&table);
	return is_passed;
}

static bool text(void)
{
	static const char expected[] =
		"job: 2 processes, 1 communicator, 0 failed calls\n"
		"COMM                  RANK   OPS/S BYTES/S   BUSBW BEHIND LAST ERRORS OPEN CALL            HOST\n"
		"-                        -       -       -       -      0   0%      0 1m15s CommInitRank   node1\n"
		"00000000000000aa       0/3       5   2.50M   3.33G      0   0%      0 -                    node1\n"
		"00000000000000aa       1/3    0.50       0       0      3  50%      5 3s AllReduce         node1\n";
	struct tap_top_table table = {0};
	char *written = NULL, line[TAP_TOP_LINE];
	bool is_passed = true;
	size_t size;
	FILE *out;

	CHECK(!look(&table, before, 1000) && !look(&table, after, 3000));
	out = open_memstream(&written, &size);
	tap_top_text_write(out, &table, "job", "", 200);
	CHECK(!fclose(out) && !strcmp(written, expected));
	if (!is_passed)
		printf("# %s", written);
	free(written);
	for (unsigned columns = 0; columns < 300; columns++)
		for (size_t i = 0; i < table.rows.count; i++) {
			tap_top_text_line(&table.rows.items[i], columns, line);
			CHECK(strlen(line) <= columns);
		}
	tap_top_text_line(&table.rows.items[1], 80, line);
	CHECK(!strncmp(line, "00000000 ", 9));
	tap_top_table_free(&table);
	return is_passed;
}

int main(void)
{
	puts("1..5");
	report("two looks give rates, and who is last", looks);
	report("what is no text of metrics is no harm", nonsense);
	report("a label may be long", long_labels);
	report("the rows are sorted and filtered", order);
	report("the table as text", text);
	return 0;
}
