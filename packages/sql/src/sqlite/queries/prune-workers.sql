-- Parameters: 1 last seen before, 2 limit.
delete from workers where (tenant, id) in (
  select tenant, id from workers where last_seen_at < ?1 limit ?2
)
