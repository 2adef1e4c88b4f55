-- Switches a cron on or off, while it is as it was read.
-- Parameters: 1 tenant, 2 name, 3 version, 4 enabled, 5 next_at.
update crons set enabled = ?4, next_at = ?5, version = version + 1
where tenant = ?1 and name = ?2 and version = ?3
returning *
