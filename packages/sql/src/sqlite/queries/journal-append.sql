-- Stores a batch, where its run is active and has not come to it yet: fence, head and weight in one statement.
-- Parameters: 1 tenant, 2 job, 3 run or null, 4 claim id or null, 5 worker or null, 6 first, 7 last, 8 first_at, 9 last_at,
-- 10 stored_at, 11 weight of the batch, 12 weight at most or null, 13 types, 14 body.
insert into journal (tenant, job, run, after, first, last, first_at, last_at, stored_at, weight, types, body)
select
  jobs.tenant, jobs.id, jobs.run, case when head.run = jobs.run then head.last else -1 end, ?6, ?7, ?8, ?9, ?10,
  coalesce(head.weight, 0) + ?11, ?13, ?14
from jobs
left join journal as head on head.pos = (
  select pos from journal where tenant = ?1 and job = ?2 order by run desc, after desc limit 1
)
where jobs.tenant = ?1 and jobs.id = ?2 and jobs.state = 'active'
  and (?3 is null or jobs.run = ?3) and (?4 is null or jobs.claim_id = ?4) and (?5 is null or jobs.worker_id = ?5)
  and ?6 > case when head.run = jobs.run then head.last else -1 end
  and (?12 is null or coalesce(head.weight, 0) + ?11 <= ?12)
returning run, weight
