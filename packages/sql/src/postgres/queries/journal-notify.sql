-- Tells other processes of journals that have grown.
-- Parameters: 1 who tells, and ids of jobs, as JSON.
select pg_notify({grown}, $1)
