-- The same within the run of the place.
-- Parameters: 1 tenant, 2 job, 3 run and 4 sequence of the place, 5 last_at from, or null, 6 JSON list of types, or null,
-- 7 limit.
select pos, length(body) from journal
where tenant = ?1 and job = ?2 and run = ?3
  and after >= coalesce((select max(after) from journal where tenant = ?1 and job = ?2 and run = ?3 and after <= ?4), -1)
  and last > ?4
  and (?5 is null or last_at >= ?5)
  and (?6 is null or exists (select 1 from json_each(types) as own, json_each(?6) as asked where own.value = asked.value))
order by after
limit ?7
