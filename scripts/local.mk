# SPDX-License-Identifier: MIT
# Scripts that are part of a release; the checks of the tree are tests too.

EXTRA_DIST += scripts/build scripts/check scripts/check-arm64 scripts/check-exports scripts/check-frameworks \
	scripts/check-dist scripts/check-layers scripts/check-release scripts/in-root scripts/skipped \
	scripts/daemon scripts/demo scripts/fuzz scripts/fetch-cuda scripts/fetch-duckdb scripts/fetch-kernel scripts/fetch-nccl \
	scripts/install-deps scripts/list-tests scripts/nccl-function-ids
