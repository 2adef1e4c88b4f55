-- Counts the events that are about to be told, in the order of their subjects, as everybody who counts several. Counts
-- nothing where the try before was committed: it held these rows until its end, so that is known once they are locked.
-- Pruning notes when it first sees that something was told. Answers each count, whether the try before was committed, and the number of this transaction.
-- Parameters: 1 tenants, 2 kinds, 3 subjects, 4 numbers of events, 5 transaction of the try before or null.
insert into {schema}.subjects as s (tenant, kind, subject, count)
select tenant, kind, subject, told
from unnest($1::text[], $2::text[], $3::text[], $4::int[]) as x (tenant, kind, subject, told)
order by tenant collate "C", kind collate "C", subject collate "C"
on conflict (tenant, kind, subject) do update
set count = s.count + case when {schema}.was_committed_v1($5::text) then 0 else excluded.count end,
  told_at = null
returning s.tenant, s.kind, s.subject, s.count, {schema}.was_committed_v1($5::text), pg_current_xact_id()::text
