-- Whether the job holds a slot right now: it may have got one since the caller read it.
-- Parameters: 1 tenant, 2 id.
select holds_slot from jobs where tenant = ?1 and id = ?2
