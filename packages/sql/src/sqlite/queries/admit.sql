-- Parameters: 1 tenant, 2 id, 3 rank.
update jobs set holds_slot = 1, rank = ?3 where tenant = ?1 and id = ?2
