-- Whether one of these jobs is in a bundle. The ids come in order.
-- Parameters: 1 tenant, 2 ids.
select 1 from {schema}.bundles
where tenant = $1 and first_id <= ($2::uuid[])[cardinality($2::uuid[])] and last_id >= ($2::uuid[])[1]
  and ids && $2::uuid[]
limit 1
