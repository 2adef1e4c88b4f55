-- Gives slots to jobs that wait for them.
-- Parameters: 1 tenant, 2 ids.
update {schema}.jobs_live set holds_slot = true, ready = true where tenant = $1 and id = any ($2::uuid[])
