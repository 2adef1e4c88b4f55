-- Removes counters of events, once every event that they have counted is gone. The counter of a workflow goes with it.
-- Parameters: 1 last told before, 2 events of this time and later may be kept, 3 limit, 4 now.
with old as materialized (
  select tenant, kind, subject from {schema}.subjects
  where kind <> 'workflow' and told_at < $1
    and coalesce((select at from {schema}.event_segments where at < $2 or at <= $4 order by seq limit 1), $2) >= $2
  order by told_at limit $3
  for update skip locked
),
gone as (
  delete from {schema}.subjects s using old
  where s.tenant = old.tenant and s.kind = old.kind and s.subject = old.subject
  returning 1
)
select count(*)::int from gone
