#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of HIP that has a row.
# shellcheck disable=SC2034 # variables of every.inc.sh
set -eu

name=hip
events='cuda:hip*'
times=24 # eight ways, three ways of filling the arguments
rows() { "${top_builddir:?}/list-calls" --hip | awk '$3 != "-" { print $1, $3, $4 }'; }
# shellcheck source=tests/calls/every.inc.sh
. "${top_srcdir:?}/tests/calls/every.inc.sh"
