-- what is missing of a job: ranks that no table has; and whether there are several jobs
-- SPDX-License-Identifier: MIT
-- No row: everything is there.  Ranks of a communicator, or of the job as its launcher counts them;
-- a rank on two hosts, and jobs of different sizes, are of several jobs or runs.
WITH members AS (
    SELECT run, comm_key, max(nranks) AS nranks, count(DISTINCT rank) AS ranks_here
    FROM communicator
    WHERE comm_key IS NOT NULL AND nranks > 0 AND rank >= 0
    GROUP BY run, comm_key
), launched AS (
    SELECT DISTINCT run, host, rank, world_size
    FROM process
    WHERE rank >= 0 AND world_size > 0
), sizes AS (
    SELECT run, min(world_size) AS least, max(world_size) AS most,
        count(DISTINCT rank) AS ranks_here
    FROM launched
    GROUP BY run
)
SELECT run, 'ranks-not-here' AS what, '0x' || lower(hex(comm_key)) AS subject,
    ranks_here, nranks AS ranks
FROM members
WHERE ranks_here < nranks
UNION ALL
SELECT run, 'ranks-not-here', 'job', ranks_here, most
FROM sizes
WHERE least = most AND ranks_here < most
UNION ALL
SELECT run, 'several-jobs', min(host) || ', ' || max(host), rank, max(world_size)
FROM launched
GROUP BY run, rank
HAVING count(DISTINCT host) > 1
UNION ALL
SELECT run, 'several-jobs', 'sizes', least, most
FROM sizes
WHERE least < most
ORDER BY run, what, subject, ranks_here
