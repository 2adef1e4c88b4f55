-- A stretch of the log, only the segments that mention a job where one is asked for.
-- Parameters: 1 first segment, 2 last segment, 3 job id or null.
select id, first, body from event_segments
where id between ?1 and ?2 and (?3 is null or instr(body, ?3) > 0)
order by id
