/* SPDX-License-Identifier: MIT */
/*
 * The sink components: each writes one view of what it reads through a merge and a join.
 *
 * Hides the life of a babeltrace2 component; plugin.c only names these functions.
 */
#ifndef TAP_JOIN_BT_SINK_H
#define TAP_JOIN_BT_SINK_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
tap_sink_init_timeline(bt_self_component_sink *self,
		       bt_self_component_sink_configuration *configuration,
		       const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_report(bt_self_component_sink *self,
		     bt_self_component_sink_configuration *configuration,
		     const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_check(bt_self_component_sink *self,
		    bt_self_component_sink_configuration *configuration,
		    const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_complete(bt_self_component_sink *self,
		       bt_self_component_sink_configuration *configuration,
		       const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_why(bt_self_component_sink *self,
		  bt_self_component_sink_configuration *configuration,
		  const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_audit(bt_self_component_sink *self,
		    bt_self_component_sink_configuration *configuration,
		    const bt_value *params, void *data);
bt_component_class_initialize_method_status
tap_sink_init_export(bt_self_component_sink *self,
		     bt_self_component_sink_configuration *configuration,
		     const bt_value *params, void *data);
void tap_sink_finalize(bt_self_component_sink *self);
bt_component_class_port_connected_method_status
tap_sink_connected(bt_self_component_sink *self, bt_self_component_port_input *port,
		   const bt_port_output *other);
bt_component_class_sink_graph_is_configured_method_status
tap_sink_configured(bt_self_component_sink *self);
bt_component_class_sink_consume_method_status
tap_sink_consume(bt_self_component_sink *self);

#endif
