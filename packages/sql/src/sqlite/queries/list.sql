-- Newest first. read.ts narrows `from jobs where` to the index that holds the fewest rows.
-- Parameters, null where nothing is asked: 1 tenant, 2 states, 3 queues, 4 types (JSON arrays), 5 dead, 6 workflow id,
-- 7 error type or code, 8 created after, 9 created before, 10 finished after, 11 finished before,
-- 12 id to continue behind, 13 limit.
select * from jobs
where tenant = ?1
  and (?2 is null or state in (select value from json_each(?2)))
  and (?3 is null or queue in (select value from json_each(?3)))
  and (?4 is null or type in (select value from json_each(?4)))
  and (?5 is null or dead = ?5)
  and (?6 is null or workflow_id = ?6)
  and (?7 is null or ?7 in (json_extract(errors, '$[#-1].type'), json_extract(errors, '$[#-1].code')))
  and (?8 is null or created_at > ?8)
  and (?9 is null or created_at < ?9)
  and (?10 is null or finished_at > ?10)
  and (?11 is null or finished_at < ?11)
  and (?12 is null or id < ?12)
order by id desc
limit ?13
