-- Newest first, of those whose ids lie in a range.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit, 4 first id, 5 last id, 6 states (a JSON array) or null.
select * from workflows
where tenant = ?1 and id between ?4 and ?5 and (?2 is null or id < ?2)
  and (?6 is null or state in (select value from json_each(?6)))
order by id desc
limit ?3
