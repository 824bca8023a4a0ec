-- how far apart the ranks call their collectives, by communicator and function
-- SPDX-License-Identifier: MIT
-- Times are compared on one clock alone, as in last-ranks.
WITH came AS (
    SELECT o.run, p.clock_of, o.comm_key, o.op_number, o.name, o.rank, o.begin_ns
    FROM operation o
    JOIN process p ON p.run = o.run AND p.host = o.host AND p.process = o.process
    WHERE o.op_kind = 'collective' AND o.comm_key IS NOT NULL AND o.begin_ns IS NOT NULL
), met AS (
    SELECT run, clock_of, comm_key, op_number, min(name) AS name, count(*) AS ranks,
        max(begin_ns) - min(begin_ns) AS apart_ns
    FROM came
    GROUP BY run, clock_of, comm_key, op_number
    HAVING count(*) > 1
)
SELECT run, clock_of, '0x' || lower(hex(comm_key)) AS comm_key, name, max(ranks) AS ranks,
    count(*) AS operations,
    CAST(round(median(apart_ns)) AS BIGINT) AS apart_median_ns, max(apart_ns) AS apart_max_ns,
    max_by(op_number, (apart_ns, op_number)) AS op_number_of_max
FROM met
GROUP BY run, clock_of, comm_key, name
ORDER BY apart_max_ns DESC, run, comm_key, name, clock_of
