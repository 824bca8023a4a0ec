-- who comes last to the collectives, how often, and how far the ranks are apart then
-- SPDX-License-Identifier: MIT
-- Times are compared on one clock alone: of ranks whose clocks nothing connects, each group is
-- judged by itself.  Who is last shows in the program's calls.
WITH came AS (
    SELECT o.run, p.clock_of, o.comm_key, o.op_number, o.rank, o.begin_ns
    FROM operation o
    JOIN process p ON p.run = o.run AND p.host = o.host AND p.process = o.process
    WHERE o.op_kind = 'collective' AND o.comm_key IS NOT NULL AND o.rank IS NOT NULL
        AND o.begin_ns IS NOT NULL
), met AS (
    SELECT run, clock_of, comm_key, op_number, max(begin_ns) - min(begin_ns) AS apart_ns,
        max_by(rank, (begin_ns, rank)) AS rank
    FROM came
    GROUP BY run, clock_of, comm_key, op_number
    HAVING count(*) > 1
), totals AS (
    SELECT run, clock_of, comm_key, count(*) AS operations
    FROM met
    GROUP BY run, clock_of, comm_key
)
SELECT m.run, '0x' || lower(hex(m.comm_key)) AS comm_key, m.rank, count(*) AS times_last,
    max(t.operations) AS operations, round(100.0 * count(*) / max(t.operations), 1) AS percent,
    CAST(sum(m.apart_ns) AS BIGINT) AS apart_ns, max(m.apart_ns) AS apart_max_ns
FROM met m
JOIN totals t ON t.run = m.run AND t.clock_of = m.clock_of AND t.comm_key = m.comm_key
GROUP BY m.run, m.clock_of, m.comm_key, m.rank
ORDER BY apart_ns DESC, m.run, m.comm_key, m.rank
