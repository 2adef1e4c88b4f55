-- The keys whose rate lets somebody in.
-- Parameters: 1 now, 2 limit.
select tenant, key from limits where next_at <= ?1 order by next_at limit ?2
