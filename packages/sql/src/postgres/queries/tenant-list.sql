-- The tenants that have queues; those that were only noted too, see note_queues_v1.
-- Parameters: 1 behind which one (null: all), 2 limit.
select tenant from (
  select tenant from {schema}.queues union select tenant from {schema}.queue_totals
) known
where $1::text is null or tenant collate "C" > $1
order by tenant collate "C" limit $2
