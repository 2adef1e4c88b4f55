-- Newest first.
-- Parameters: 1 tenant, 2 id to continue behind or null, 3 limit, 4 state.
select * from workflows indexed by workflows_state
where tenant = ?1 and state = ?4 and (?2 is null or id < ?2)
order by id desc
limit ?3
