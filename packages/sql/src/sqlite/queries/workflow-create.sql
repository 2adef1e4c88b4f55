-- Parameters: a WorkflowRow, column by column (workflow-rows.ts).
insert into workflows (tenant, id, type, name, state, failure_policy, callbacks, total, created_at, finished_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
