-- Positions and sizes of the batches of a job behind a place, without reading their bodies. The batch that holds the place is
-- the last of its run that begins behind nothing later; those before it are not looked at.
-- Parameters: 1 tenant, 2 job, 3 run and 4 sequence of the place, 5 last_at from, or null, 6 JSON list of types, or null,
-- 7 limit.
select pos, length(body) from journal
where tenant = ?1 and job = ?2
  and (run, after) >= (
    ?3,
    coalesce((select max(after) from journal where tenant = ?1 and job = ?2 and run = ?3 and after <= ?4), -1)
  )
  and (run > ?3 or last > ?4)
  and (?5 is null or last_at >= ?5)
  and (?6 is null or exists (select 1 from json_each(types) as own, json_each(?6) as asked where own.value = asked.value))
order by run, after
limit ?7
