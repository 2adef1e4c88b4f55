-- Parameters: 1 tenant, 2 id.
select directive from {schema}.workers where tenant = $1 and id = $2 for no key update
