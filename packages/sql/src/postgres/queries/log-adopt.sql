-- Begins the log anew where the database is not the one that it was written in: cursors from before mean nothing here,
-- and what was written before counts as older than everything (3 is the first number of a transaction).
with here as (
  select c.system_identifier || '.' || d.oid as database
  from pg_control_system() c cross join pg_database d where d.datname = current_database()
),
moved as (
  select l.database is not null as is_restored, here.database from {schema}.log_state l cross join here
  where l.database is distinct from here.database for update of l
),
aged as (
  update {schema}.event_segments set xid = '3' where exists (select 1 from moved where is_restored)
)
update {schema}.log_state l set
  database = moved.database,
  store_id = case when moved.is_restored then replace(gen_random_uuid()::text, '-', '') else l.store_id end,
  pruned_seq = case when moved.is_restored then null else l.pruned_seq end
from moved
