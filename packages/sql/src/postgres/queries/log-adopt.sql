-- Begins the log anew where the database is not the one that it was written in: cursors from before mean nothing here,
-- and the segments from before count as older than everything. They are not rewritten, because a log may be long.
with here as (
  select c.system_identifier || '.' || d.oid as database
  from pg_control_system() c cross join pg_database d where d.datname = current_database()
),
moved as (
  select l.database is not null as is_restored, here.database from {schema}.log_state l cross join here
  where l.database is distinct from here.database for update of l
)
update {schema}.log_state l set
  database = moved.database,
  store_id = case when moved.is_restored then replace(gen_random_uuid()::text, '-', '') else l.store_id end,
  adopted_seq = case when moved.is_restored
    then coalesce((select seq from {schema}.event_segments order by seq desc limit 1), 0) else l.adopted_seq end,
  pruned_seq = case when moved.is_restored then null else l.pruned_seq end
from moved
