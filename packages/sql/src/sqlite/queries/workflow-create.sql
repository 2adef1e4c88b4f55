-- Parameters: a WorkflowRow, column by column (workflow-rows.ts).
insert into workflows (
  tenant, id, type, name, state, failure_policy, callbacks, total, created_at, finished_at, timeout_ms, next_at, reason, skips
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
