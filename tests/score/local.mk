# SPDX-License-Identifier: MIT
# How true what ccltap says of NCCL is, measured on mini-NCCL: doc/score.md.

score_py = tests/score/score.py tests/score/truth.py tests/score/trace.py tests/score/match.py \
	tests/score/judge.py tests/score/runs.py tests/score/spoilt.py
EXTRA_DIST += $(score_py) tests/score/matrix tests/score/mutants tests/score/mutated tests/score/test_score.sh
TESTS += tests/score/test_score.sh

# CCLTAP_SCORE_SEED makes a matrix of CCLTAP_SCORE_RUNS configurations of which all is drawn.
score_run = $(AM_V_at)CCLTAP_LIBDIR='$(abs_top_builddir)/.libs' $(srcdir)/scripts/daemon \
	/usr/bin/python3 $(srcdir)/tests/score/score.py $(SCORE_FLAGS)
score_end = '$(abs_top_builddir)/ccltap' '$(abs_top_builddir)' score.work; \
	status=$$?; rm -rf score.work; exit $$status


.PHONY: score score-mutants
score: all $(check_DATA)
	$(score_run) --json score.json \
		$${CCLTAP_SCORE_SEED:+--seed "$$CCLTAP_SCORE_SEED" --random "$${CCLTAP_SCORE_RUNS-100}"} \
		$(score_end)
score-mutants: all $(check_DATA)
	$(score_run) --matrix $(srcdir)/tests/score/mutated \
		--mutants $(srcdir)/tests/score/mutants $(score_end)
CLEANFILES += score.json
