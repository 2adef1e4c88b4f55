-- The rule was set by itself, so the limit stays however long it is not used.
-- Parameters: 1 tenant, 2 key.
update limits set is_setting = 1 where tenant = ?1 and key = ?2
