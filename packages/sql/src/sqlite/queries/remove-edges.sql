-- The conditions that a completed job meets; answers the children that it met them for.
-- Parameters: 1 tenant, 2 parent.
delete from edges where tenant = ?1 and parent = ?2 returning child
