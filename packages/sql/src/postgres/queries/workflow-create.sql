-- Parameters: a WorkflowRow, column by column (workflow-rows.ts).
insert into {schema}.workflows (
  tenant, id, type, name, state, failure_policy, callbacks, total, created_at, finished_at, timeout_ms, next_at, reason, skips
) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict do nothing
