-- where the time of the collectives goes: in the call, in the GPU's queue, in the kernel, waiting
-- SPDX-License-Identifier: MIT
-- waiting_ns is how much longer a rank's kernel ran than the shortest one of the operation, which
-- had to wait for nobody; lengths need no common clock.  Kernels that carry out several operations
-- have no number, and are not here.
WITH kernels AS (
    SELECT run, host, process, comm_key, op_kind, op_number, sum(end_ns - begin_ns) AS kernel_ns,
        min(queue_ns) AS queue_ns
    FROM kernel
    WHERE op_number IS NOT NULL AND comm_key IS NOT NULL
    GROUP BY run, host, process, comm_key, op_kind, op_number
), ends AS (
    SELECT o.run, o.comm_key, o.op_number, o.name, o.end_ns - o.begin_ns AS call_ns, k.queue_ns,
        k.kernel_ns,
        k.kernel_ns - min(k.kernel_ns) OVER
            (PARTITION BY o.run, o.comm_key, o.op_number) AS waiting_ns
    FROM operation o
    LEFT JOIN kernels k ON k.run = o.run AND k.host = o.host AND k.process = o.process
        AND k.comm_key = o.comm_key AND k.op_kind = o.op_kind AND k.op_number = o.op_number
    WHERE o.op_kind = 'collective' AND o.comm_key IS NOT NULL
)
SELECT run, '0x' || lower(hex(comm_key)) AS comm_key, name, count(*) AS calls,
    count(kernel_ns) AS kernels,
    CAST(round(median(call_ns)) AS BIGINT) AS call_median_ns, max(call_ns) AS call_max_ns,
    CAST(round(median(queue_ns)) AS BIGINT) AS queue_median_ns, max(queue_ns) AS queue_max_ns,
    CAST(round(median(kernel_ns)) AS BIGINT) AS kernel_median_ns, max(kernel_ns) AS kernel_max_ns,
    CAST(round(median(waiting_ns)) AS BIGINT) AS waiting_median_ns,
    max(waiting_ns) AS waiting_max_ns
FROM ends
GROUP BY run, comm_key, name
ORDER BY run, comm_key, name
