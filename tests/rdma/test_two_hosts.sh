#!/bin/sh
# SPDX-License-Identifier: MIT
# Stock programs on two hosts, a trace each: programs.inc.sh.
set -eu
# shellcheck disable=SC2034 # read there
hosts=two
# shellcheck source=tests/rdma/programs.inc.sh
. "${top_srcdir:?}/tests/rdma/programs.inc.sh"
