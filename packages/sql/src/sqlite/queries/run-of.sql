-- What became of a run: tells a repeated settle from a lost lease.
-- Parameters: 1 tenant, 2 id.
select state, run, claim_id, outcome from jobs where tenant = ?1 and id = ?2
