#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of NCCL that has a row.
# shellcheck disable=SC2034 # variables of every.inc.sh
set -eu

name=call
events='nccl:*'
times=6 # two names, three ways of filling the arguments
rows() { "${top_builddir:?}/list-calls" --names | awk '{ print $1, $1, "PAIR" }'; }
# shellcheck source=tests/calls/every.inc.sh
. "${top_srcdir:?}/tests/calls/every.inc.sh"
