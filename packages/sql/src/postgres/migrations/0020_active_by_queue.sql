--! compatible with 17
-- The runs of a queue that has a limit: every claim of it counts them. Without this, it counts among the runs of all queues.
create index jobs_active on {schema}.jobs_live (tenant, queue) where state = 4;
