-- Whoever joins counts its nodes in this very row, so a change of the total is seen also when it was waited for.
-- Parameters: 1 tenant, 2 id, 3 state before, 4 state after, 5 finished_at, 6 total (null: any),
-- 7 next_at, 8 reason, 9 skips (null: as before).
update {schema}.workflows set state = $4, finished_at = $5, next_at = $7, reason = $8, skips = coalesce($9::smallint, skips)
where tenant = $1 and id = $2 and state = $3 and ($6::int is null or total = $6)
returning 1
