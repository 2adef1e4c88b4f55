-- Counts jobs that have ended.
-- Parameters: 1 tenant, 2 name, 3 completed, 4 cancelled, 5 discarded.
insert into queues (tenant, name, completed, cancelled, discarded) values (?1, ?2, ?3, ?4, ?5)
on conflict do update set
  completed = completed + excluded.completed, cancelled = cancelled + excluded.cancelled,
  discarded = discarded + excluded.discarded
