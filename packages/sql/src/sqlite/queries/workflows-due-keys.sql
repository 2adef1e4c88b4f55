-- The rows that `workflows-due` would answer, by their keys alone: for when one of them cannot be read.
-- Parameters: 1 now, 2 limit.
select tenant, id from workflows where next_at <= ?1 order by next_at limit ?2
