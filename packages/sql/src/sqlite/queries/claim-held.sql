-- The jobs that a claim holds already, in the order in which a claim gives them.
-- Parameters: 1 tenant, 2 claim id.
select * from jobs where tenant = ?1 and claim_id = ?2 and state = 'active' order by priority desc, seq
