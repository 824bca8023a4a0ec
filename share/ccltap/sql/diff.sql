-- what changed from the first folder to the second, by function, number of ranks and size
-- folders: 2
-- SPDX-License-Identifier: MIT
-- Ratios are of the second to the first.  Kernels that carry out several operations are left out.
WITH kernels AS (
    SELECT run, host, process, comm_key, op_kind, op_number, sum(end_ns - begin_ns) AS kernel_ns
    FROM kernel
    WHERE op_number IS NOT NULL AND comm_key IS NOT NULL
    GROUP BY run, host, process, comm_key, op_kind, op_number
), sums AS (
    SELECT o.run, o.op_kind, o.name, o.nranks, o.bytes, count(*) AS calls,
        median(o.end_ns - o.begin_ns) AS call_ns, median(k.kernel_ns) AS kernel_ns
    FROM operation o
    LEFT JOIN kernels k ON k.run = o.run AND k.host = o.host AND k.process = o.process
        AND k.comm_key = o.comm_key AND k.op_kind = o.op_kind AND k.op_number = o.op_number
    GROUP BY o.run, o.op_kind, o.name, o.nranks, o.bytes
), a AS (
    SELECT * FROM sums WHERE run = 1
), b AS (
    SELECT * FROM sums WHERE run = 2
)
SELECT coalesce(a.name, b.name) AS name, coalesce(a.nranks, b.nranks) AS nranks,
    coalesce(a.bytes, b.bytes) AS bytes, a.calls AS calls_1, b.calls AS calls_2,
    CAST(round(a.call_ns) AS BIGINT) AS call_median_ns_1,
    CAST(round(b.call_ns) AS BIGINT) AS call_median_ns_2,
    round(b.call_ns / nullif(a.call_ns, 0), 2) AS call_ratio,
    CAST(round(a.kernel_ns) AS BIGINT) AS kernel_median_ns_1,
    CAST(round(b.kernel_ns) AS BIGINT) AS kernel_median_ns_2,
    round(b.kernel_ns / nullif(a.kernel_ns, 0), 2) AS kernel_ratio
FROM a
FULL OUTER JOIN b ON a.op_kind = b.op_kind AND a.name = b.name
    AND coalesce(a.nranks, -1) = coalesce(b.nranks, -1)
    AND coalesce(a.bytes, -1) = coalesce(b.bytes, -1)
ORDER BY name, nranks, bytes
