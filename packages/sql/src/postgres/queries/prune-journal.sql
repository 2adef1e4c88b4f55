-- Parameters: 1 stored before, 2 limit.
select {schema}.prune_journal_v1($1, $2)
