/* SPDX-License-Identifier: MIT */
/*
 * TAP: what the kinds record, field by field, where it depends on more than the
 * argument: versions of structures, results, lengths, NULL.
 */
#include <stdarg.h>
#include <stdint.h>

#include "../lib/tap.h"
#include "guarded.h"
#include "unasked_read.h"

#include "calls/nccl_calls.h"
#include "tracepoints/events.h"

/* The fields of kinds.h as text, "name=value " each. */
static char text[8192];

__attribute__((format(printf, 1, 2))) static void write_text(const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, sizeof(text) - used, format, list);
	va_end(list);
}

#define lttng_ust_field_integer(type, n, value) \
	write_text(#n "=%lld ", (long long) (type) (value));
#define lttng_ust_field_integer_hex(type, n, value) \
	write_text(#n "=0x%llx ", (unsigned long long) (type) (value));
#define lttng_ust_field_float(type, n, value) write_text(#n "=%g ", (double) (value));
#define lttng_ust_field_enum(provider, name, type, n, value) \
	write_text(#n "=" #name ":%d ", (int) (value));
#define lttng_ust_field_string(n, value) write_text(#n "='%s' ", value);
#define lttng_ust_field_sequence(type, n, list, length_type, length) \
	{ \
		size_t item; \
		write_text(#n "=["); \
		for (item = 0; item < (size_t) (length); item++) \
			write_text("%lld,", (long long) (list)[item]); \
		write_text("] "); \
	}
#define lttng_ust_field_sequence_hex lttng_ust_field_sequence

/* What is known of a call besides its arguments. */
static const struct tap_call known = {.comm_id = 5, .comm_key = 0xabc};
static const struct tap_call *const call = &known;

/* clang-format off */
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	__attribute__((unused)) static void entry_##fn(const struct fn##_args *args) \
	{ \
		struct fn##_args copy = *args, *const a = &copy; \
		(void) a; \
		text[0] = 0; \
		ARGS_WALK(ARG_READ_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
		ARGS_WALK(ARG_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
	} \
	__attribute__((unused)) static void exit_##fn(const struct fn##_args *args, \
						      ret_t ret) \
	{ \
		struct fn##_args copy = *args, *const a = &copy; \
		(void) a; \
		(void) ret; \
		text[0] = 0; \
		READ_RET_##ret_kind \
		RET_##ret_kind \
		ARGS_WALK(ARG_READ_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
		ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
	}
#define CALL_VOID(since, class, fn, ...)
#include "calls/nccl.def"
/* clang-format on */

static void expect(bool passed, const char *sentence)
{
	ok(passed, sentence);
	if (!passed)
		printf("# recorded: %s\n", text);
}

static void is(const char *expected, const char *sentence)
{
	bool passed = !strcmp(text, expected);

	expect(passed, sentence);
	if (!passed)
		printf("# expected: %s\n", expected);
}

static bool has(const char *field)
{
	return strstr(text, field) != NULL;
}

static void test_hash(void)
{
	/* The number is what getHash() of libnccl 2.27 to 2.32 makes of these bytes. */
	struct ncclCommInitRank_args args = {.nranks = 4, .rank = 2};
	struct ncclCommGrow_args grow = {.rank = -1};
	struct ncclCommInitRankScalable_args scalable = {.nId = 2, .commIds = NULL};
	ncclUniqueId *ids = guarded(sizeof(*ids), 0);
	unsigned int i;

	for (i = 0; i < sizeof(ids->internal); i++)
		ids->internal[i] = (char) (unsigned char) (i * 37 + 11);
	args.commId = *ids;
	entry_ncclCommInitRank(&args);
	is("nranks=4 commId_hash=0x3002dcd1bbe6653d rank=2 ",
	   "an identifier is recorded as NCCL's own hash of it");
	scalable.commIds = ids;
	scalable.nId = 1;
	entry_ncclCommInitRankScalable(&scalable);
	expect(has("nId=1 commIds_hash=0x3002dcd1bbe6653d "),
	       "of several identifiers the first one counts");
	scalable.nId = -1;
	entry_ncclCommInitRankScalable(&scalable);
	expect(has("commIds_hash=0x0 "),
	       "no identifier is read when their number is no number");
	entry_ncclCommGrow(&grow);
	expect(has("uniqueId_hash=0x0 "), "no identifier has no hash");
}

static struct tap_nccl_config *config_of(size_t size, unsigned int version)
{
	struct tap_nccl_config *config = guarded(size, 0);

	memset(&config->head + 1, 1, size - sizeof(config->head));
	config->head = (struct tap_nccl_head){size, TAP_NCCL_MAGIC, version};
	config->netName = guarded_string("Socket");
	if (size > offsetof(struct tap_nccl_config, commName))
		config->commName = NULL;
	return config;
}

static void record_config(struct tap_nccl_config *config)
{
	struct ncclCommSplit_args args = {.config = (ncclConfig_t *) (void *) config};

	entry_ncclCommSplit(&args);
}

static void test_config(void)
{
	struct tap_nccl_config *config;
	static const char none[] =
		"config_blocking=-2147483648 config_cgaClusterSize=-2147483648 "
		"config_minCTAs=-2147483648 config_maxCTAs=-2147483648 "
		"config_netName='' ";

	record_config(config_of(48, 21803));
	expect(has("config_netName='Socket' config_splitShare=16843009 "
		   "config_trafficClass=-2147483648 config_commName='' "),
	       "what is padding in an old configuration is not a field of a newer one");
	record_config(config_of(48, 22602));
	expect(has("config_trafficClass=16843009 config_commName='' "
		   "config_collnetEnable=-2147483648 "),
	       "the same bytes are that field from the release on that has it");
	record_config(config_of(48, 23203));
	expect(has("config_commName='' config_collnetEnable=-2147483648 "),
	       "a configuration that is shorter than its version says is not read beyond");
	record_config(config_of(96, 23003));
	expect(has("config_maxP2pPeers=16843009 config_graphStreamOrdering=-2147483648 "),
	       "and once more where 2.30 grew");
	record_config(config_of(sizeof(*config), 23203));
	expect(has("config_commName='' ") && has("config_nvlsHostMode=16843009 "),
	       "a new configuration is read to its end, a name that is NULL is empty");
	record_config(config_of(4096, 29900));
	expect(has("config_nvlsHostMode=16843009 "),
	       "one of a release to come is read as far as known");
	config = config_of(48, 21803);
	config->head.magic = 0;
	record_config(config);
	expect(has(none), "one that was not initialised is not read");
	record_config(NULL);
	expect(has(none), "nor is one that is not there");
}

static void test_lists(void)
{
	struct ncclCommInitAll_args all = {.ndev = 2};
	struct ncclWaitSignal_args wait = {.nDesc = 1};
	int *devices = guarded(2 * sizeof(int), 0);
	ncclComm_t *comms = guarded(2 * sizeof(*comms), 0);
	ncclWaitSignalDesc_t *desc = guarded(sizeof(*desc), 0);

	devices[0] = 5;
	devices[1] = 3;
	memset(comms, 1, sizeof(*comms));
	all.devlist = devices;
	all.comm = comms;
	entry_ncclCommInitAll(&all);
	is("ndev=2 devlist=[5,3,] ",
	   "a list is recorded with as many elements as the call is told");
	exit_ncclCommInitAll(&all, ncclSuccess);
	is("result=ncclResult_t:0 comm=[72340172838076673,0,] ",
	   "and so are the handles it gives back");
	exit_ncclCommInitAll(&all, ncclInvalidUsage);
	is("result=ncclResult_t:5 comm=[] ", "which are not read when the call failed");
	all.ndev = -1;
	entry_ncclCommInitAll(&all);
	is("ndev=-1 devlist=[] ", "a negative length reads nothing");
	all.ndev = TAP_LIST_MAX + 1;
	entry_ncclCommInitAll(&all);
	is("ndev=4097 devlist=[] ", "an absurd length reads nothing");
	all.ndev = 2;
	all.devlist = NULL;
	entry_ncclCommInitAll(&all);
	is("ndev=2 devlist=[] ", "the default list is empty");
	*desc = (ncclWaitSignalDesc_t){.opCnt = 4, .peer = 3, .sigIdx = 2, .ctx = 1};
	wait.signalDescs = desc;
	entry_ncclWaitSignal(&wait);
	expect(has("signalDescs=[4,3,2,1,] "), "a descriptor is its four numbers");
}

static size_t count_commas(void)
{
	const char *at = text;
	size_t nr = 0;

	while ((at = strchr(at, ',')))
		at++, nr++;
	return nr;
}

/* What is copied before an event has bounds; the real length is an argument of its own.
 */
static void test_bounds(void)
{
	struct ncclCommInitAll_args all = {.ndev = 257};
	struct ncclWaitSignal_args wait = {.nDesc = 65};
	struct ncclParamBind_args bind = {.key = NULL};
	char *name = guarded(TAP_RESULT_BYTES, 'x');
	struct tap_nccl_config *config = config_of(sizeof(*config), 23203);

	all.devlist = guarded(257 * sizeof(int), 0);
	entry_ncclCommInitAll(&all);
	expect(has("ndev=257 ") && count_commas() == 256,
	       "of 257 numbers 256 are recorded");
	all.ndev = 129;
	all.comm = guarded(129 * sizeof(*all.comm), 0);
	exit_ncclCommInitAll(&all, ncclSuccess);
	expect(count_commas() == 128, "of 129 handles 128");
	wait.signalDescs = guarded(65 * sizeof(*wait.signalDescs), 0);
	entry_ncclWaitSignal(&wait);
	expect(has("nDesc=65 ") && count_commas() == 4 * 64, "of 65 descriptors 64");
	bind.key = name;
	entry_ncclParamBind(&bind);
	expect(strlen(text) == strlen("key='' ") + 255,
	       "of a string that does not end 255 bytes");
	exit_ncclGetLastError(&(struct ncclGetLastError_args){NULL}, name);
	expect(strlen(text) == strlen("result='' ") + 1023,
	       "of one that is a result 1023");
	config->commName = config->netName = name;
	record_config(config);
	expect(strstr(text, "config_commName='") &&
		       strchr(strstr(text, "config_commName='") + 17, '\'') ==
			       strstr(text, "config_commName='") + 17 + 127,
	       "of a communicator's name 127");
}

static void test_results(void)
{
	ncclComm_t *comm = guarded(sizeof(*comm), 1);
	ncclResult_t *error = guarded(sizeof(*error), 0);
	struct ncclCommSplit_args split = {.newcomm = comm};
	struct ncclCommGetAsyncError_args async = {.asyncError = error};
	struct ncclMemAlloc_args alloc = {.ptr = NULL};
	struct ncclGetLastError_args last = {.comm = NULL};

	*error = ncclRemoteError;
	exit_ncclCommGetAsyncError(&async, ncclSuccess);
	is("result=ncclResult_t:0 asyncError=ncclResult_t:6 ",
	   "an asynchronous error is recorded");
	exit_ncclCommGetAsyncError(&async, ncclInvalidArgument);
	is("result=ncclResult_t:4 asyncError=ncclResult_t:-1 ", "unless the call failed");
	exit_ncclCommSplit(&split, ncclInProgress);
	is("result=ncclResult_t:7 newcomm=0x101010101010101 ",
	   "a communicator in the making has its handle");
	exit_ncclCommSplit(&split, ncclSystemError);
	is("result=ncclResult_t:2 newcomm=0x0 ", "one that was not made has none");
	exit_ncclMemAlloc(&alloc, ncclSuccess);
	is("result=ncclResult_t:0 ptr=0x0 ",
	   "a place to write to that is NULL is not read");
	exit_ncclGetLastError(&last, NULL);
	is("result='' ", "no string is the empty string");
}

static void test_structures(void)
{
	struct tap_nccl_sim_info *info = guarded(24, 0);
	struct tap_nccl_properties *old = guarded(40, 1);
	struct tap_nccl_coll_config *coll = guarded(64, 1);
	struct ncclGroupSimulateEnd_args simulate = {.simInfo = (void *) info};
	struct ncclCommQueryProperties_args query = {.props = (void *) old};
	struct ncclAllReduceConfig_args reduce = {.config = (void *) coll};
	struct ncclSetEncryption_args encrypt = {NULL};
	struct {
		struct tap_nccl_encryption_config config;
		const char *psk;
	} *encryption = guarded(sizeof(*encryption), 0);

	*info = (struct tap_nccl_sim_info){{24, TAP_NCCL_SIM_MAGIC, 22203}, 1.5f};
	exit_ncclGroupSimulateEnd(&simulate, ncclSuccess);
	is("result=ncclResult_t:0 simInfo_estimatedTime=1.5 ",
	   "a simulated time is recorded");
	info->head.magic = TAP_NCCL_MAGIC;
	exit_ncclGroupSimulateEnd(&simulate, ncclSuccess);
	is("result=ncclResult_t:0 simInfo_estimatedTime=0 ",
	   "but only out of what is one");

	old->head = (struct tap_nccl_head){40, TAP_NCCL_MAGIC, 22902};
	exit_ncclCommQueryProperties(&query, ncclSuccess);
	expect(has("props_nRanks=16843009 ") && has("props_commHash=0x0 "),
	       "old properties have no communicator hash");

	coll->head = (struct tap_nccl_head){64, TAP_NCCL_MAGIC, 23102};
	coll->algSelection = NULL;
	entry_ncclAllReduceConfig(&reduce);
	expect(has("config_algSelection='' config_forceAlgSelection=16843009 ") &&
		       has("config_userProfilerTag=72340172838076673 "
			   "config_launchCompletionEvent=0x0 "),
	       "the configuration of a call is read as far as its release reaches");

	encryption->config =
		(struct tap_nccl_encryption_config){{32, TAP_NCCL_MAGIC, 23200}, 1};
	encryption->psk = guarded_string("secret");
	encrypt.config = (void *) encryption;
	entry_ncclSetEncryption(&encrypt);
	is("config_mode=ncclEncryptionMode_t:1 ",
	   "of encryption the mode is recorded, not the key");
}

int main(void)
{
	test_hash();
	test_config();
	test_lists();
	test_bounds();
	test_results();
	test_structures();
	return tap_done();
}
