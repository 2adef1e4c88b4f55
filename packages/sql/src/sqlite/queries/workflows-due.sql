-- Parameters: 1 now, 2 limit.
select * from workflows where next_at <= ?1 order by next_at limit ?2
