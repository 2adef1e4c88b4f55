-- Parameters: as of claim_by_id_v1, and the queues that are asked for; null: all. A job keeps its queue, so those of others can
-- be taken out beforehand.
with asked as materialized (
  select n::int as n, id, exists (
    select 1 from {schema}.jobs_live where tenant = $1 and jobs_live.id = x.id and state = 2 and queue <> all ($7::text[])
  ) as elsewhere
  from unnest($2::uuid[]) with ordinality x (id, n)
)
select a.n, case when a.elsewhere then 'elsewhere' else c.status end, {job.columns}
from asked a
left join {schema}.claim_by_id_v1(
  $1, (select array_agg(case when not elsewhere then id end order by n) from asked), $3, $4, $5, $6
) c on c.n = a.n
where a.elsewhere or c.n is not null
