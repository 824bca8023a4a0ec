# SPDX-License-Identifier: MIT
# What other tools read.

tracecompassdir = $(datadir)/ccltap/tracecompass
dist_tracecompass_DATA = \
	share/ccltap/tracecompass/ccltap.xml \
	share/ccltap/tracecompass/ccltap-raw.xml

# A plug-in that a user builds with the Trace Compass that is there.
tracecompassplugindir = $(tracecompassdir)/plugin
dist_tracecompassplugin_SCRIPTS = share/ccltap/tracecompass/plugin/build
dist_tracecompassplugin_DATA = \
	share/ccltap/tracecompass/plugin/MANIFEST.MF \
	share/ccltap/tracecompass/plugin/plugin.xml
tracecompassjavadir = $(tracecompassplugindir)/src/ccltap/tracecompass
dist_tracecompassjava_DATA = \
	share/ccltap/tracecompass/plugin/src/ccltap/tracecompass/Arrows.java \
	share/ccltap/tracecompass/plugin/src/ccltap/tracecompass/Provider.java

# The questions of "ccltap query", which run on other engines, too.
sqldir = $(datadir)/ccltap/sql
dist_sql_DATA = \
	share/ccltap/sql/busbw.sql \
	share/ccltap/sql/complete.sql \
	share/ccltap/sql/diff.sql \
	share/ccltap/sql/last-ranks.sql \
	share/ccltap/sql/links.sql \
	share/ccltap/sql/mismatch.sql \
	share/ccltap/sql/missing.sql \
	share/ccltap/sql/phases.sql \
	share/ccltap/sql/skew.sql \
	share/ccltap/sql/slow-links.sql

# What Prometheus and Grafana do with what "ccltap record --metrics" counts.
prometheusdir = $(datadir)/ccltap/prometheus
dist_prometheus_DATA = share/ccltap/prometheus/ccltap.rules.yml
grafanadir = $(datadir)/ccltap/grafana
dist_grafana_DATA = share/ccltap/grafana/ccltap.json

# The entry of the questions to Spark.
sparkdir = $(datadir)/ccltap/spark
dist_spark_DATA = share/ccltap/spark/ccltap_tables.py

# The template of the page that "ccltap report --html" writes.
pagedir = $(datadir)/ccltap/page
dist_page_DATA = \
	share/ccltap/page/base.js \
	share/ccltap/page/charts.js \
	share/ccltap/page/page.css \
	share/ccltap/page/page.html \
	share/ccltap/page/page.js \
	share/ccltap/page/timeline.js

# Completion, where each shell looks for it.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = share/completions/ccltap
dist_zshcompletion_DATA = share/completions/_ccltap
dist_fishcompletion_DATA = share/completions/ccltap.fish
