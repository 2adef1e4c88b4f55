-- What a job is right now, for the counts that a change moves.
-- Parameters: 1 tenant, 2 id.
select state, holds_slot from jobs where tenant = ?1 and id = ?2
