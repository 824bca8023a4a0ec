/* SPDX-License-Identifier: MIT */
/*
 * The filter component: reads a recording through a merge and a join, and emits the
 * events of ccltap-trace(5).
 *
 * Hides the life of a babeltrace2 component; plugin.c only names these functions.
 */
#ifndef TAP_JOIN_BT_FILTER_H
#define TAP_JOIN_BT_FILTER_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
tap_filter_init(bt_self_component_filter *self,
		bt_self_component_filter_configuration *configuration,
		const bt_value *params, void *data);
void tap_filter_finalize(bt_self_component_filter *self);
bt_component_class_port_connected_method_status
tap_filter_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
		     const bt_port_output *other);
bt_message_iterator_class_initialize_method_status
tap_filter_begin(bt_self_message_iterator *iterator,
		 bt_self_message_iterator_configuration *configuration,
		 bt_self_component_port_output *port);
void tap_filter_end(bt_self_message_iterator *iterator);
bt_message_iterator_class_next_method_status
tap_filter_next(bt_self_message_iterator *iterator, bt_message_array_const messages,
		uint64_t capacity, uint64_t *count);

#endif
