-- A worker that beats at the same time stays: its row is looked at again once it is locked.
-- Parameters: 1 last seen before, 2 limit.
with old as materialized (
  select tenant, id from {schema}.workers where last_seen_at < $1 limit $2 for update skip locked
),
gone as (
  delete from {schema}.workers w using old where w.tenant = old.tenant and w.id = old.id
  returning 1
)
select count(*)::int from gone
