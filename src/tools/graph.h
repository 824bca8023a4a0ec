/* SPDX-License-Identifier: MIT */
/*
 * Reads traces into one of ccltap's sinks, or writes traces of their calls. Hides where
 * traces lie below a folder, where the plugin is, and how babeltrace2 graphs are put
 * together: every stream goes into a port of its own, without the stock muxer.
 */
#ifndef TAP_TOOLS_GRAPH_H
#define TAP_TOOLS_GRAPH_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/*
 * Reads all CTF traces below the count folders into the sink "ccltap.<sink>" with params,
 * a map whose reference it takes; NULL means out of memory. is_streamed: the sink writes
 * to standard output while it reads, and not only at its end. Returns an exit status,
 * after one line on stderr when it is not 0.
 */
int tap_graph_run(char *const *folders, int count, const char *sink, bt_value *params,
		  bool is_streamed);

/*
 * Likewise, into a sink that fills a folder, which exists and is empty. Returns an exit status,
 * or minus the signal that ended the reading: then whoever calls this ends by it, too.
 */
int tap_graph_fill(char *const *folders, int count, const char *sink, bt_value *params,
		   const char *folder);

/* How the traces of each host are read by themselves, several at a time. */
struct tap_graph_each {
	const char *sink;
	/* In a host's process: the parameters of its sink, which fills the folder. */
	bt_value *(*make_params)(const char *folder, void *data);
	/* Then, with the full folder: returns an exit status, or minus a signal. */
	int (*finish)(const char *folder, void *data);
	const char *folder; /* exists; hosts get "0", "1", ... in it, in order of names */
	unsigned int processes;
	bool shows_percent;
	void *data;
};

/*
 * Likewise, each host's traces in a process of its own: what is on several hosts is not
 * joined. A host whose traces cannot be read has an empty folder, or none.
 */
int tap_graph_fill_each(char *const *folders, int count,
			const struct tap_graph_each *each);

/*
 * Reads them through the filter "ccltap.timeline" into CTF traces in the folder to, which
 * must be missing or empty.
 */
int tap_graph_write(char *const *folders, int count, const char *to, bt_value *params);

#endif
