-- Parameters: 1 tenant, 2 id, 3 state before, 4 state after, 5 finished_at, 6 total (null: any).
update workflows set state = ?4, finished_at = ?5
where tenant = ?1 and id = ?2 and state = ?3 and (?6 is null or total = ?6)
