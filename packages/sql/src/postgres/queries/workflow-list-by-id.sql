-- Newest first, of those whose ids lie in a range.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit, 4 first id, 5 last id, 6 states or null.
select * from {schema}.workflows
where tenant = $1 and id between $4 and $5 and ($2::text is null or id < $2)
  and ($6::text[] is null or state = any ($6::text[]))
order by id desc limit $3
