#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of the CUDA driver that has a row.
# shellcheck disable=SC2034 # variables of every.inc.sh
set -eu

name=cuda
events='cuda:cu*'
times=12 # four ways, three ways of filling the arguments
rows() { "${top_builddir:?}/list-calls" --cuda | awk '$2 != "-"'; }
# shellcheck source=tests/calls/every.inc.sh
. "${top_srcdir:?}/tests/calls/every.inc.sh"
