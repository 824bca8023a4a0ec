-- collectives that some ranks did not come to, and where these ranks stood
-- SPDX-License-Identifier: MIT
-- "has-not-come": it made no later call on the communicator, and nothing is missing from the traces
-- of its folder.  "not-known": it made none that is recorded, and events are missing.
-- "not-recorded": it made a later one, so this one is missing from the trace.  "not-here": no table
-- has that many ranks of the communicator.
WITH calls AS (
    SELECT DISTINCT comm_key, op_number, rank
    FROM operation
    WHERE op_kind = 'collective' AND comm_key IS NOT NULL AND rank IS NOT NULL
), sizes AS (
    SELECT comm_key, max(nranks) AS nranks
    FROM communicator
    WHERE comm_key IS NOT NULL
    GROUP BY comm_key
), short AS (
    SELECT o.comm_key, o.op_number, min(o.name) AS name, s.nranks,
        count(DISTINCT o.rank) AS ranks_here
    FROM operation o
    JOIN sizes s ON s.comm_key = o.comm_key
    WHERE o.op_kind = 'collective'
    GROUP BY o.comm_key, o.op_number, s.nranks
    HAVING count(DISTINCT o.rank) < s.nranks
), members AS (
    SELECT DISTINCT comm_key, rank, run, host, process
    FROM communicator
    WHERE comm_key IS NOT NULL AND rank IS NOT NULL
), known AS (
    SELECT comm_key, count(DISTINCT rank) AS ranks
    FROM members
    GROUP BY comm_key
), lossy AS (
    SELECT DISTINCT run
    FROM loss
    WHERE value > 0 AND counter IN ('discarded_events', 'discarded_packets', 'discarded_unknown',
        'lost_exits', 'lost_entries', 'evicted_calls', 'malformed_events', 'damaged_streams',
        'removed_chunks', 'unrecorded_processes', 'relay_gaps', 'missing_operations',
        'not_recorded_operations',
        'ambiguous_operations', 'unsure_operations', 'flight_recorder')
), latest AS (
    SELECT comm_key, rank, max(op_number) AS op_number
    FROM calls
    GROUP BY comm_key, rank
)
SELECT '0x' || lower(hex(s.comm_key)) AS comm_key, s.op_number, s.name, s.nranks, s.ranks_here,
    m.rank, m.host, m.process, l.op_number AS latest_op_number,
    CASE WHEN l.op_number > s.op_number THEN 'not-recorded'
        WHEN x.run IS NOT NULL THEN 'not-known' ELSE 'has-not-come' END AS state,
    1 AS ranks
FROM short s
JOIN members m ON m.comm_key = s.comm_key
LEFT JOIN calls c ON c.comm_key = s.comm_key AND c.op_number = s.op_number AND c.rank = m.rank
LEFT JOIN latest l ON l.comm_key = s.comm_key AND l.rank = m.rank
LEFT JOIN lossy x ON x.run = m.run
WHERE c.rank IS NULL
UNION ALL
SELECT '0x' || lower(hex(s.comm_key)), s.op_number, s.name, s.nranks, s.ranks_here, NULL, NULL,
    NULL, NULL, 'not-here', s.nranks - k.ranks
FROM short s
JOIN known k ON k.comm_key = s.comm_key
WHERE k.ranks < s.nranks
ORDER BY comm_key, op_number, state, rank
