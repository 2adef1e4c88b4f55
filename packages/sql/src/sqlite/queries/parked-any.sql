-- Whether a job waits for a slot.
-- Parameters: 1 tenant, 2 key.
select exists (
  select 1 from jobs
  where tenant = ?1 and limit_key = ?2 and state = 'available' and rank is null and limit_key is not null
)
