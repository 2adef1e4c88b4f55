-- The limits whose rate lets somebody in, and those that claims have used since. Not those that another transaction holds:
-- the sweep would wait for an application that leaves its transaction open.
-- Parameters: 1 now, 2 limit.
select tenant, key from (
  select tenant, key from {schema}.limits where next_at <= $1 order by next_at limit $2 for share skip locked
) waited_for
union
select tenant, key from (
  select l.tenant, l.key from (select distinct tenant, key from {schema}.limit_starts limit $2) s
  join {schema}.limits l on l.tenant = s.tenant and l.key = s.key
  for share of l skip locked
) used
