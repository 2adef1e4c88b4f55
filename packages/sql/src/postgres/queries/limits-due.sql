-- The limits whose rate lets somebody in, and those that claims have used since.
-- Parameters: 1 now, 2 limit.
(select tenant, key from {schema}.limits where next_at <= $1 order by next_at limit $2)
union
(select distinct tenant, key from {schema}.limit_starts limit $2)
