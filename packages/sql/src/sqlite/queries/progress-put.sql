-- Parameters: 1 tenant, 2 id, 3 run, 4 number, 5 sequence, 6 fraction, 7 data, 8 checkpoint, 9 at.
insert into progress (tenant, id, run, number, sequence, fraction, data, checkpoint, at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
on conflict do update set
  run = excluded.run, number = excluded.number, sequence = excluded.sequence, fraction = excluded.fraction,
  data = excluded.data, checkpoint = excluded.checkpoint, at = excluded.at
