# SPDX-License-Identifier: MIT
# What other tools read.

tracecompassdir = $(datadir)/ccltap/tracecompass
dist_tracecompass_DATA = share/ccltap/tracecompass/ccltap.xml
