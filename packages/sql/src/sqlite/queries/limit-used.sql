-- Notes that a limit is in use. Apart from limit-use, so that the index is written seldom.
-- Parameters: 1 tenant, 2 key, 3 now.
update limits set used_at = ?3 where tenant = ?1 and key = ?2
