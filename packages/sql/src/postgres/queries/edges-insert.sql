-- A parent that has completed before will not be looked at again, so its edge is met from the start; so is an edge out of a
-- join.
-- Parameters: 1 tenant, 2 parents, 3 children, 4 kinds; in the order of the edges.
insert into {schema}.edges (tenant, parent, child, position, kind, met)
select $1, x.parent, x.child, x.n, x.kind, x.kind = 2 or {schema}.has_completed_v1($1, x.parent)
from unnest($2::uuid[], $3::uuid[], $4::smallint[]) with ordinality as x (parent, child, kind, n)
on conflict do nothing
