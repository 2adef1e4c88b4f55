-- How far an active run has come, and the weight of its job's journal. None: the run is not active, or is another's.
-- Parameters: 1 tenant, 2 job, 3 run or null, 4 claim id or null, 5 worker or null.
select jobs.run, case when head.run = jobs.run then head.last else -1 end, coalesce(head.weight, 0)
from jobs
left join journal as head on head.pos = (
  select pos from journal where tenant = ?1 and job = ?2 order by run desc, after desc limit 1
)
where jobs.tenant = ?1 and jobs.id = ?2 and jobs.state = 'active'
  and (?3 is null or jobs.run = ?3) and (?4 is null or jobs.claim_id = ?4) and (?5 is null or jobs.worker_id = ?5)
