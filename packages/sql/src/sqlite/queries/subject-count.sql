-- Counts an event of something that is not a job; answers how many there are with it.
-- Parameters: 1 tenant, 2 kind, 3 subject.
insert into subjects (tenant, kind, subject, count) values (?1, ?2, ?3, 1)
on conflict do update set count = count + 1
returning count
