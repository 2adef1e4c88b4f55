-- Parameters: 1 now, 2 limit.
select * from crons where next_at <= ?1 and enabled = 1 order by next_at limit ?2
