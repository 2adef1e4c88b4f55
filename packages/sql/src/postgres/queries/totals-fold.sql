-- Adds what has ended to the totals of the queues. One process at a time; others leave it to that one.
-- Pruning notes when it first sees that a queue was used.
with mine as materialized (
  select pg_try_advisory_xact_lock(hashtextextended('{schema} totals', 0)) as granted
),
gone as (
  delete from {schema}.queue_totals where (select granted from mine) returning *
)
insert into {schema}.queues (tenant, name, completed, cancelled, discarded)
select tenant, queue, sum(completed), sum(cancelled), sum(discarded) from gone group by tenant, queue order by 1, 2
on conflict (tenant, name) do update set
  completed = queues.completed + excluded.completed, cancelled = queues.cancelled + excluded.cancelled,
  discarded = queues.discarded + excluded.discarded, used_at = null
