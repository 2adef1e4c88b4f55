-- Which of these names another node of the workflow has: the first of them, counted from 1.
-- Parameters: 1 tenant, 2 workflow, 3 nodes.
select x.n::int from unnest($3::text[]) with ordinality as x (node, n)
where exists (
  select 1 from {schema}.workflow_nodes o where o.tenant = $1 and o.workflow_id = $2 and o.node = x.node
)
order by x.n
limit 1
