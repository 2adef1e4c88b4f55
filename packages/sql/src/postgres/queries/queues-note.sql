-- Lists queues that may be new, without a lock that others wait for. Answers those whose row was committed before.
-- Parameters: 1 tenants, 2 names.
select tenant, name from {schema}.note_queues_v1($1, $2)
