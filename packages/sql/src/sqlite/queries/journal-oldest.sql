-- Old batches from the oldest on, and whether one has to stay: the newest of an active run tells how far the run has come.
-- Parameters: 1 stored before, 2 time and 3 position of the batch to go on behind, 4 limit.
select
  pos, stored_at,
  exists (
    select 1 from jobs where jobs.tenant = journal.tenant and jobs.id = journal.job and jobs.state = 'active'
  ) and pos = (
    select newest.pos from journal as newest
    where newest.tenant = journal.tenant and newest.job = journal.job
    order by newest.run desc, newest.after desc limit 1
  )
from journal where stored_at < ?1 and (stored_at, pos) > (?2, ?3) order by stored_at, pos limit ?4
