-- As segments-after, for a reader that has seen nothing. `xid` says nothing of segments that came with a restore, and is
-- no range here, so that the plan goes by `seq` whatever the statistics say.
-- Parameters: 1 snapshot to read up to, 2 first segment, 3 limit, 4 job ids or null, 5 the same as UUIDs, 6 last segment
-- that came with a restore, or 0.
select seq, first, case when is_asked_for then body end, case when is_asked_for then array_to_string(ids, ',') end
from (
  select seq, first, body, ids, $4::text[] is null or coalesce($5::uuid[] && ids, false)
    or exists (select from unnest($4::text[]) id where strpos(body, id) > 0) as is_asked_for
  from {schema}.event_segments
  where seq >= $2 and (seq <= $6::bigint or pg_visible_in_snapshot(xid, $1::text::pg_snapshot))
  order by seq limit $3
) s
order by seq
