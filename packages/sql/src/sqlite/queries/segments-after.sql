-- A stretch of the log, only the segments that mention one of the jobs where some are asked for.
-- Parameters: 1 first segment, 2 last segment, 3 job ids as JSON or null.
select id, first, body from event_segments
where id between ?1 and ?2 and (?3 is null or exists (select 1 from json_each(?3) where instr(body, value) > 0))
order by id
