/* SPDX-License-Identifier: MIT */
/* babeltrace2 finds its own folders; a bundled plugin is opened by its path. */
#include "tools/plugins.h"

#include <limits.h>
#include <stdio.h>

#include "tools/message.h"
#include "tools/place.h"

static const char plugin_file[] = "babeltrace-plugin-ccltap.so";

static const bt_plugin *open_plugin(const char *path)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin;

	if (bt_plugin_find_all_from_file(path, BT_TRUE, &set) !=
	    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK)
		return NULL;
	plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
	bt_plugin_get_ref(plugin);
	bt_plugin_set_put_ref(set);
	return plugin;
}

const bt_plugin *tap_plugins_find_own(void)
{
	const char *folder = tap_place_plugins();
	const bt_plugin *plugin = NULL;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, plugin_file) <
	    (int) sizeof(path))
		plugin = open_plugin(path);
	if (plugin)
		return plugin;
	bt_current_thread_clear_error();
	tap_message_write(
		"cannot load %s from %s: install ccltap, or set CCLTAP_LIBDIR to "
		"the folder where it is",
		plugin_file, folder);
	return NULL;
}

const bt_plugin *tap_plugins_find_ctf(void)
{
	const bt_plugin *plugin = NULL;
	char path[PATH_MAX];

	if (tap_place_bundled("lib/babeltrace2/plugins/babeltrace-plugin-ctf.so", path,
			      sizeof(path)))
		plugin = open_plugin(path);
	if (plugin)
		return plugin;
	bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin);
	if (plugin)
		return plugin;
	bt_current_thread_clear_error();
	tap_message_write("babeltrace2's plugin \"ctf\" is missing: install babeltrace2");
	return NULL;
}
