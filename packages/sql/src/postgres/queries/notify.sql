-- Tells other processes of queues that may have something to claim.
-- Parameters: 1 queues as JSON.
select pg_notify({channel}, $1)
