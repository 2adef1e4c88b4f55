-- Whether a child still waits for a parent.
-- Parameters: 1 tenant, 2 child.
select exists (select 1 from edges where tenant = ?1 and child = ?2)
