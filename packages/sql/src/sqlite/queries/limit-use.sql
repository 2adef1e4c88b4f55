-- What a limit has given out.
-- Parameters: 1 tenant, 2 key, 3 holders, 4 unclaimed, 5 starts, 6 next_at.
update limits set holders = ?3, unclaimed = ?4, starts = ?5, next_at = ?6 where tenant = ?1 and key = ?2
