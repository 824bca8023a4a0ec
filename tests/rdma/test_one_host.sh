#!/bin/sh
# SPDX-License-Identifier: MIT
# Stock programs on one host that talks to itself, both sides in one trace: programs.inc.sh.
set -eu
# shellcheck disable=SC2034 # read there
hosts=one
# shellcheck source=tests/rdma/programs.inc.sh
. "${top_srcdir:?}/tests/rdma/programs.inc.sh"
