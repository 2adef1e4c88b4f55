-- Parameters: 1 tenants, 2 ids, 3 runs, 4 numbers, 5 sequences, 6 fractions, 7 data, 8 checkpoints, 9 times.
insert into {schema}.progress (tenant, id, run, number, sequence, fraction, data, checkpoint, at)
select tenant, id, run, number, sequence, fraction, data, checkpoint, at
from unnest(
  $1::text[], $2::uuid[], $3::int[], $4::bigint[], $5::int[], $6::float8[], {schema}.lines_v1($7), {schema}.lines_v1($8),
  $9::bigint[]
) as x (tenant, id, run, number, sequence, fraction, data, checkpoint, at)
on conflict (tenant, id) do update set
  run = excluded.run, number = excluded.number, sequence = excluded.sequence, fraction = excluded.fraction,
  data = excluded.data, checkpoint = excluded.checkpoint, at = excluded.at
