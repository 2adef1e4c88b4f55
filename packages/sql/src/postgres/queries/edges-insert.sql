-- A parent that has completed before will not be looked at again, so its edge is met from the start.
-- Parameters: 1 tenant, 2 parents, 3 children; in the order of the edges.
insert into {schema}.edges (tenant, parent, child, position, met)
select $1, x.parent, x.child, x.n, {schema}.has_completed_v1($1, x.parent)
from unnest($2::uuid[], $3::uuid[]) with ordinality as x (parent, child, n)
on conflict do nothing
