-- The next stretch of the log: what became visible between two snapshots. `seq` is in order for each job, since it was
-- drawn while the job was locked. The body only where it mentions a job that is asked for. Segments that came with a
-- restore are older than any snapshot that a reader has seen.
-- Parameters: 1 snapshot seen, 2 snapshot to read up to, 3 first segment, 4 limit, 5 job ids or null, 6 the same as UUIDs,
-- 7 last segment that came with a restore, or 0.
select seq, first, case when is_asked_for then body end, case when is_asked_for then array_to_string(ids, ',') end
from (
  select seq, first, body, ids, $5::text[] is null or coalesce($6::uuid[] && ids, false)
    or exists (select from unnest($5::text[]) id where strpos(body, id) > 0) as is_asked_for
  from {schema}.event_segments
  where xid >= pg_snapshot_xmin($1::text::pg_snapshot) and xid < pg_snapshot_xmax($2::text::pg_snapshot)
    and pg_visible_in_snapshot(xid, $2::text::pg_snapshot)
    and not pg_visible_in_snapshot(xid, $1::text::pg_snapshot)
    and seq >= $3 and seq > $7::bigint
  order by seq limit $4
) s
order by seq
