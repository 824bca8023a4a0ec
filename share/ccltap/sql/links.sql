-- what belongs together across ranks and hosts, also where each host's trace was exported alone
-- SPDX-License-Identifier: MIT
-- A collective or a pair of send and receive is the calls with one key; of the two that a
-- communicator may have, the smaller is shown.  A message on the wire is a link of one export or,
-- where its ends are in two, two halves with one key; a key that more than two halves have proves
-- nothing.  Between hosts that were exported alone, messages of NET/IB (kind cts-message) and what
-- they are for (message-kernel) are not known.
WITH pairs AS (
    SELECT comm_key, alias_key
    FROM communicator
    WHERE comm_key IS NOT NULL AND alias_key IS NOT NULL
), aliases AS (
    SELECT one_key, min(other_key) AS comm_key
    FROM (
        SELECT comm_key AS one_key, least(comm_key, alias_key) AS other_key FROM pairs
        UNION ALL
        SELECT alias_key, least(comm_key, alias_key) FROM pairs
    ) AS both_ways
    GROUP BY one_key
), calls AS (
    SELECT coalesce(a.comm_key, o.comm_key) AS comm_key,
        CASE WHEN o.op_kind = 'collective' THEN 'collective-ranks'
            ELSE 'send-recv' END AS kind,
        o.op_number, o.sender_rank, o.receiver_rank, o.rank, o.known, o.nranks, o.call_id,
        o.op_kind, o.name, o.host, p.pid
    FROM operation o
    JOIN process p ON p.run = o.run AND p.host = o.host AND p.process = o.process
    LEFT JOIN aliases a ON a.one_key = o.comm_key
    WHERE o.comm_key IS NOT NULL AND (o.op_kind = 'collective'
        OR o.sender_rank IS NOT NULL AND o.receiver_rank IS NOT NULL)
), operations AS (
    SELECT kind, CASE WHEN max(CASE WHEN known = 'exact' THEN 0 ELSE 1 END) = 0 THEN 'exact'
            ELSE 'inferred' END AS known,
        comm_key, op_number, sender_rank, receiver_rank, count(*) AS ends,
        CASE WHEN kind = 'collective-ranks' THEN max(nranks) ELSE 2 END AS nranks,
        CASE WHEN kind = 'send-recv' THEN 'ncclSend'
            WHEN min(name) = max(name) THEN min(name) END AS name,
        max(CASE WHEN op_kind = 'send' THEN host END) AS from_host,
        max(CASE WHEN op_kind = 'send' THEN pid END) AS from_pid,
        max(CASE WHEN op_kind = 'send' THEN call_id END) AS from_number,
        max(CASE WHEN op_kind = 'recv' THEN host END) AS to_host,
        max(CASE WHEN op_kind = 'recv' THEN pid END) AS to_pid,
        max(CASE WHEN op_kind = 'recv' THEN call_id END) AS to_number
    FROM calls
    GROUP BY kind, comm_key, op_number, sender_rank, receiver_rank
    HAVING count(*) > 1 AND CASE WHEN kind = 'collective-ranks'
            THEN count(DISTINCT rank) = count(rank)
            ELSE count(*) = 2 AND min(op_kind) <> max(op_kind) END
), ends AS (
    SELECT l.*, p.pid
    FROM link l
    JOIN process p ON p.run = l.run AND p.host = l.end_host AND p.process = l.process
    WHERE l.kind IN ('send-receive', 'socket-message')
), whole AS (
    SELECT a.kind, a.known, a.bytes, a.end_host AS from_host, a.pid AS from_pid,
        a.queue AS from_queue, a.generation AS from_generation, a.number AS from_number,
        b.end_host AS to_host, b.pid AS to_pid, b.queue AS to_queue,
        b.generation AS to_generation, b.number AS to_number
    FROM ends a
    JOIN ends b ON b.run = a.run AND b.host = a.host AND b.link = a.link
    WHERE NOT a.is_half AND NOT b.is_half AND a.place = 0 AND b.place = 1
), senders AS (
    SELECT e.*, count(*) OVER (PARTITION BY kind, local_gid_hi, local_gid_lo, local_lid,
            local_qp_num, remote_gid_hi, remote_gid_lo, remote_lid, remote_qp_num, qp_type,
            pair_ordinal, is_begun_before, listener, ordinal) AS alike
    FROM ends e
    WHERE is_half AND span_kind IN ('send', 'net-send')
), receivers AS (
    SELECT e.*, count(*) OVER (PARTITION BY kind, local_gid_hi, local_gid_lo, local_lid,
            local_qp_num, remote_gid_hi, remote_gid_lo, remote_lid, remote_qp_num, qp_type,
            pair_ordinal, is_begun_before, listener, ordinal) AS alike
    FROM ends e
    WHERE is_half AND span_kind IN ('receive', 'net-receive')
), halves AS (
    SELECT a.kind, CASE WHEN a.known = 'exact' AND b.known = 'exact' THEN 'exact'
            ELSE 'inferred' END AS known,
        a.bytes, a.end_host AS from_host, a.pid AS from_pid, a.queue AS from_queue,
        a.generation AS from_generation, a.number AS from_number, b.end_host AS to_host,
        b.pid AS to_pid, b.queue AS to_queue, b.generation AS to_generation, b.number AS to_number
    FROM senders a
    JOIN receivers b ON b.kind = a.kind AND b.ordinal = a.ordinal
        AND b.remote_gid_hi = a.local_gid_hi AND b.remote_gid_lo = a.local_gid_lo
        AND b.remote_lid = a.local_lid AND b.remote_qp_num = a.local_qp_num
        AND b.local_gid_hi = a.remote_gid_hi AND b.local_gid_lo = a.remote_gid_lo
        AND b.local_lid = a.remote_lid AND b.local_qp_num = a.remote_qp_num
        AND b.qp_type = a.qp_type AND b.pair_ordinal = a.pair_ordinal
        AND b.is_begun_before = a.is_begun_before
        AND coalesce(b.remote_psn = a.local_psn, true)
        AND coalesce(b.local_psn = a.remote_psn, true)
        AND coalesce(b.bytes = a.bytes, true)
        AND (b.is_unread OR coalesce(b.imm_data, -1) = coalesce(a.imm_data, -1))
    WHERE a.alike = 1 AND b.alike = 1
    UNION ALL
    SELECT a.kind, CASE WHEN a.known = 'exact' AND b.known = 'exact' THEN 'exact'
            ELSE 'inferred' END,
        a.bytes, a.end_host, a.pid, a.queue, a.generation, a.number, b.end_host, b.pid, b.queue,
        b.generation, b.number
    FROM senders a
    JOIN receivers b ON b.kind = a.kind AND b.ordinal = a.ordinal AND b.listener = a.listener
        AND b.stream_offset_bytes = a.stream_offset_bytes AND b.bytes = a.bytes
    WHERE a.alike = 1 AND b.alike = 1
)
SELECT kind, known, '0x' || lower(hex(comm_key)) AS comm_key, op_number, sender_rank,
    receiver_rank, name, ends, nranks, CAST(NULL AS BIGINT) AS bytes, from_host, from_pid,
    CAST(NULL AS BIGINT) AS from_queue, CAST(NULL AS BIGINT) AS from_generation,
    from_number, to_host, to_pid, CAST(NULL AS BIGINT) AS to_queue,
    CAST(NULL AS BIGINT) AS to_generation, to_number
FROM operations
UNION ALL
SELECT kind, known, NULL, NULL, NULL, NULL, NULL, 2, 2, bytes, from_host, from_pid, from_queue,
    from_generation, from_number, to_host, to_pid, to_queue, to_generation, to_number
FROM whole
UNION ALL
SELECT kind, known, NULL, NULL, NULL, NULL, NULL, 2, 2, bytes, from_host, from_pid, from_queue,
    from_generation, from_number, to_host, to_pid, to_queue, to_generation, to_number
FROM halves
ORDER BY kind, comm_key, op_number, sender_rank, receiver_rank, from_host, from_pid, from_queue,
    from_generation, from_number
