-- Counts an event of something that is not a job; answers how many there are with it.
-- Parameters: 1 tenant, 2 kind, 3 subject, 4 when.
insert into subjects (tenant, kind, subject, count, told_at) values (?1, ?2, ?3, 1, ?4)
on conflict do update set count = count + 1, told_at = excluded.told_at
returning count
