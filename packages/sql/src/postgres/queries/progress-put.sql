-- Parameters: 1 tenants, 2 ids, 3 runs, 4 numbers, 5 sequences, 6 fractions, 7 data, 8 checkpoints, 9 times.
insert into {schema}.progress (tenant, id, run, number, sequence, fraction, data, checkpoint, at)
select tenant, id, run, number, sequence, fraction, nullif(data::text, 'null'), nullif(checkpoint::text, 'null'), at
from rows from (
  unnest($1::text[]), unnest($2::uuid[]), unnest($3::int[]), unnest($4::bigint[]), unnest($5::int[]), unnest($6::float8[]),
  json_array_elements($7::json), json_array_elements($8::json), unnest($9::bigint[])
) as x (tenant, id, run, number, sequence, fraction, data, checkpoint, at)
on conflict (tenant, id) do update set
  run = excluded.run, number = excluded.number, sequence = excluded.sequence, fraction = excluded.fraction,
  data = excluded.data, checkpoint = excluded.checkpoint, at = excluded.at
