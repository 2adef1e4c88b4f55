-- When each of these was last used; null: not noted yet, and pruning notes the time at which it first sees the row.
alter table queues add column used_at integer;
-- 1: somebody has set the rule. 0: it came with a job, so the limit goes when it was not used for long.
alter table limits add column is_setting integer not null default 0;
alter table limits add column used_at integer;
-- When the last event of the subject was told.
alter table subjects add column told_at integer;

update limits set is_setting = 1 where concurrency is not null or rate_limit is not null;

-- What pruning reads. `used_at` of a limit is written once an hour at most, so the index mostly stays as it is.
create index limits_unused on limits (used_at) where is_setting = 0;
create index subjects_told on subjects (told_at) where kind <> 'workflow';
-- Whether a job still needs its limit.
create index jobs_limited on jobs (tenant, limit_key) where limit_key is not null and finished_at is null;
