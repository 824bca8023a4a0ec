-- operations for which the ranks called different functions, sizes, types, reductions or roots
-- SPDX-License-Identifier: MIT
-- Each way in which ranks called such an operation is a row.  Types may differ where nothing is
-- reduced, and each rank has numbers of its own for the reductions that it made.
WITH calls AS (
    SELECT comm_key, op_kind, op_number, sender_rank, receiver_rank, rank, host, name, bytes,
        CASE WHEN redop IS NOT NULL THEN datatype END AS datatype,
        CASE WHEN redop < 5 THEN redop END AS redop, root,
        CASE WHEN op_kind = 'collective' THEN 'collective' ELSE 'message' END AS what
    FROM operation
    WHERE comm_key IS NOT NULL
), bad AS (
    SELECT comm_key, what, op_number, sender_rank, receiver_rank,
        CASE WHEN what = 'collective' AND min(name) <> max(name) THEN 'function'
            WHEN min(datatype) <> max(datatype) THEN 'datatype'
            WHEN min(bytes) <> max(bytes) THEN 'size'
            WHEN min(redop) <> max(redop) THEN 'redop'
            WHEN min(root) <> max(root) THEN 'root' END AS mismatch
    FROM calls
    GROUP BY comm_key, what, op_number, sender_rank, receiver_rank
)
SELECT '0x' || lower(hex(b.comm_key)) AS comm_key, c.op_kind, b.op_number, b.sender_rank,
    b.receiver_rank, b.mismatch, c.name, c.bytes, c.datatype, c.redop, c.root, count(*) AS ranks,
    min(c.rank) AS lowest_rank, max(c.rank) AS highest_rank
FROM bad b
JOIN calls c ON c.comm_key = b.comm_key AND c.what = b.what AND c.op_number = b.op_number
    AND coalesce(c.sender_rank, -1) = coalesce(b.sender_rank, -1)
    AND coalesce(c.receiver_rank, -1) = coalesce(b.receiver_rank, -1)
WHERE b.mismatch IS NOT NULL
GROUP BY b.comm_key, c.op_kind, b.op_number, b.sender_rank, b.receiver_rank, b.mismatch, c.name,
    c.bytes, c.datatype, c.redop, c.root
ORDER BY b.comm_key, b.op_number, c.op_kind, b.sender_rank, b.receiver_rank, ranks DESC, lowest_rank
