-- Whether any queue has a limit.
select exists (select 1 from queues where concurrency is not null or rate_limit is not null)
