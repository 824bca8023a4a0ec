-- bus bandwidth as nccl-tests reckons it, by function, number of ranks and size
-- SPDX-License-Identifier: MIT
-- The time is that of the operation's shortest kernel, which waited for nobody.  Operations whose
-- kernel carried out others, too, are not here.
WITH kernels AS (
    SELECT run, comm_key, op_number, min(end_ns - begin_ns) AS took_ns
    FROM kernel
    WHERE op_kind = 'collective' AND op_number IS NOT NULL AND comm_key IS NOT NULL
    GROUP BY run, comm_key, op_number
), asked AS (
    SELECT run, comm_key, op_number, min(name) AS name, max(nranks) AS nranks, max(bytes) AS bytes
    FROM operation
    WHERE op_kind = 'collective' AND comm_key IS NOT NULL AND bytes IS NOT NULL
        AND mismatch IS NULL
    GROUP BY run, comm_key, op_number
), speeds AS (
    SELECT a.run, a.name, a.nranks, a.bytes, k.took_ns,
        CASE WHEN a.name IN ('ncclReduceScatter', 'ncclAllGather', 'ncclAlltoAll', 'ncclGather',
                'ncclScatter') THEN a.bytes * a.nranks
            ELSE a.bytes END * 1e9 / k.took_ns AS algorithm,
        CASE WHEN a.name = 'ncclAllReduce' THEN 2.0 * (a.nranks - 1) / a.nranks
            WHEN a.name IN ('ncclReduceScatter', 'ncclAllGather', 'ncclAlltoAll', 'ncclGather',
                'ncclScatter') THEN 1.0 * (a.nranks - 1) / a.nranks
            WHEN a.name IN ('ncclBroadcast', 'ncclReduce') THEN 1.0 END AS factor
    FROM asked a
    JOIN kernels k ON k.run = a.run AND k.comm_key = a.comm_key AND k.op_number = a.op_number
    WHERE k.took_ns > 0
)
SELECT run, name, nranks, bytes, count(*) AS operations,
    CAST(round(median(took_ns)) AS BIGINT) AS took_median_ns,
    CAST(round(median(algorithm)) AS BIGINT) AS algorithm_bytes_per_second,
    CAST(round(median(algorithm * factor)) AS BIGINT) AS bus_bytes_per_second
FROM speeds
GROUP BY run, name, nranks, bytes
ORDER BY run, name, nranks, bytes
