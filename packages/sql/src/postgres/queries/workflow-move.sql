-- Parameters: 1 tenant, 2 id, 3 state before, 4 state after, 5 finished_at.
update {schema}.workflows set state = $4, finished_at = $5 where tenant = $1 and id = $2 and state = $3 returning 1
