-- Parameters: 1 now, 2 limit.
select * from {schema}.workflows where next_at <= $1 and next_at is not null order by next_at limit $2
