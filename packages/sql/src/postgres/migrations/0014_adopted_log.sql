-- The log keeps the numbers of the transactions that wrote it, which mean nothing in a restored database. Segments up to
-- `adopted_seq` came with a restore and count as older than every transaction. 0: the log was never restored.
alter table {schema}.log_state add column adopted_seq bigint not null default 0;

-- How long after it became available a row that comes in by SQL alone is looked at, to see whether its hint came through.
-- Null: no engine of this schema works over hints.
alter table {schema}.log_state add column reminder_ms bigint;
