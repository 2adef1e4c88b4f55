-- Moves a cron to its next tick.
-- Parameters: 1 tenant, 2 name, 3 next_at, 4 tick that was dealt with, 5 id of the job that it made or null.
update {schema}.crons set
  next_at = $3, last_at = $4, last_job_id = coalesce($5::uuid, last_job_id),
  runs = runs + case when $5::uuid is null then 0 else 1 end
where tenant = $1 and name = $2
