--! compatible with 22
-- When a job of the queue last ended; null: it did since pruning last looked, and pruning notes the time at which it sees
-- that. So no writer needs to tell the time, and rows from before this column count as used now.
alter table {schema}.queues add column used_at bigint;
-- True: somebody has set the rule. False: it came with a job, so the limit goes when it was not used for long.
alter table {schema}.limits add column is_setting boolean not null default false;
alter table {schema}.limits add column used_at bigint;
-- When the last event of the subject was told; null as above.
alter table {schema}.subjects add column told_at bigint;

update {schema}.limits set is_setting = true where concurrency is not null or rate_limit is not null;

-- What pruning reads. `used_at` of a limit changes once an hour at most, so that its row is mostly updated in place.
create index limits_unused on {schema}.limits (used_at) where not is_setting;
create index subjects_told on {schema}.subjects (told_at) where kind <> 'workflow';
-- Whether a job still needs its limit.
create index jobs_limited on {schema}.jobs_live (tenant, limit_key) where limit_key is not null;
