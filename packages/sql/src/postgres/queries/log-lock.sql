-- Keeps others from pruning the log.
select 1 from {schema}.log_state for update
