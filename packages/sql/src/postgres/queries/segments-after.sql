-- The next stretch of the log: what became visible between two snapshots. `seq` is in order for each job, since it was
-- drawn while the job was locked. The body only where it mentions a job that is asked for. Segments that came with a
-- restore are older than any snapshot that a reader has seen. Of what began before `xmax` of the first snapshot only the
-- transactions that were running then are new, and they are looked for by themselves: beside an old transaction, the
-- range from `xmin` on would hold all that was written since that one began. They come as values, so that the planner
-- knows how few they are.
-- Parameters: 1 snapshot seen, 2 snapshot to read up to, 3 first segment, 4 limit, 5 job ids or null, 6 the same as UUIDs,
-- 7 last segment that came with a restore, or 0, 8 transactions that were running in the snapshot seen.
select seq, first, case when is_asked_for then body end, case when is_asked_for then array_to_string(ids, ',') end
from (
  select seq, first, body, ids, $5::text[] is null or coalesce($6::uuid[] && ids, false)
    or exists (select from unnest($5::text[]) id where strpos(body, id) > 0) as is_asked_for
  from (
    (
      select seq, first, body, ids from {schema}.event_segments
      where xid >= pg_snapshot_xmax($1::text::pg_snapshot) and xid < pg_snapshot_xmax($2::text::pg_snapshot)
        and pg_visible_in_snapshot(xid, $2::text::pg_snapshot) and seq >= $3 and seq > $7::bigint
      order by seq limit $4
    )
    union all
    (
      select seq, first, body, ids from {schema}.event_segments
      where xid = any ($8::xid8[])
        and pg_visible_in_snapshot(xid, $2::text::pg_snapshot) and seq >= $3 and seq > $7::bigint
      order by seq limit $4
    )
  ) new
  order by seq limit $4
) s
order by seq
