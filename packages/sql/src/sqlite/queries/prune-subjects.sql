-- Removes counters of events, once every event that they have counted is gone. The counter of a workflow goes with it.
-- Parameters: 1 last told before, 2 events of this time and later may be kept, 3 limit, 4 now.
delete from subjects where (tenant, kind, subject) in (
  select tenant, kind, subject from subjects
  where kind <> 'workflow' and told_at < ?1
    and coalesce((select at from event_segments where at < ?2 or at <= ?4 order by id limit 1), ?2) >= ?2
  order by told_at
  limit ?3
)
