#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of HIP that has a row, by every way, without us, with us, and while we
# record.
driver=hip
# shellcheck source=tests/calls/test_every_cuda.sh
. "${top_srcdir:?}/tests/calls/test_every_cuda.sh"
