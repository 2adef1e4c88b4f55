-- Parameters: 1 ended before, 2 dead letters that ended before, 3 limit.
select {schema}.prune_v2($1, $2, $3)
