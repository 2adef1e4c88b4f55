-- Parameters: 1 tenant, 2 key, 3 slots taken (or, below zero, given back).
update limits set holders = holders + ?3 where tenant = ?1 and key = ?2
