-- messages of NCCL's network code by connection, the slowest first
-- SPDX-License-Identifier: MIT
-- A connection is one direction from a rank to a peer for a channel, as far as these are known.
-- bytes_per_second is what the messages moved while at least one end says that they were under
-- way: from the post to the receiver where one host has both ends, else to the sender's completion.
-- Empty messages are left out.
WITH sent AS (
    SELECT run, host, process, net_id, bytes,
        coalesce(post_to_receive_ns, end_ns - begin_ns) AS took_ns, wait_max_ns
    FROM message
    WHERE kind = 'net-send' AND state = 'complete' AND bytes > 0
), ends AS (
    SELECT run, host, process, net_id, min(transport) AS transport, min(rank) AS rank,
        min(peer_rank) AS peer_rank, min(channel) AS channel, min(known) AS channel_known
    FROM connection
    WHERE is_send AND net_id IS NOT NULL
    GROUP BY run, host, process, net_id
)
SELECT s.run, s.host, s.process, s.net_id, e.transport, e.rank, e.peer_rank, e.channel,
    e.channel_known, count(*) AS messages, CAST(sum(s.bytes) AS BIGINT) AS bytes,
    CAST(round(median(s.took_ns)) AS BIGINT) AS took_median_ns, max(s.took_ns) AS took_max_ns,
    CAST(round(sum(s.bytes) * 1e9 / nullif(sum(s.took_ns), 0)) AS BIGINT) AS bytes_per_second,
    CAST(sum(s.wait_max_ns) AS BIGINT) AS waited_for_receiver_max_ns
FROM sent s
LEFT JOIN ends e ON e.run = s.run AND e.host = s.host AND e.process = s.process
    AND e.net_id = s.net_id
GROUP BY s.run, s.host, s.process, s.net_id, e.transport, e.rank, e.peer_rank, e.channel,
    e.channel_known
ORDER BY bytes_per_second NULLS LAST, s.run, s.host, s.process, s.net_id
