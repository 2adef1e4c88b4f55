-- Counts jobs that have ended.
-- Parameters: 1 tenant, 2 name, 3 completed, 4 cancelled, 5 discarded, 6 when.
insert into queues (tenant, name, completed, cancelled, discarded, used_at) values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict do update set
  completed = completed + excluded.completed, cancelled = cancelled + excluded.cancelled,
  discarded = discarded + excluded.discarded, used_at = excluded.used_at
