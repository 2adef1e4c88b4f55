-- Takes a slot if there is one. A limit that was never set has none.
-- Parameters: 1 tenant, 2 key.
update limits set holders = holders + 1 where tenant = ?1 and key = ?2 and holders < concurrency
