-- Parameters: 1 now, 2 limit.
select * from {schema}.crons where next_at <= $1 and next_at is not null and enabled order by next_at limit $2
