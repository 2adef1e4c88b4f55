-- How long a workflow may take, when the engine must look at it, why it fails, and whether nodes of it may be skipped.
alter table workflows add column timeout_ms integer;
alter table workflows add column next_at integer;
alter table workflows add column reason text;
alter table workflows add column skips integer not null default 0;

create index workflows_due on workflows (next_at) where next_at is not null;
