-- Answers nothing while another owner holds the lock. The one that holds it keeps its fence.
-- Parameters: 1 name, 2 owner, 3 until, 4 now, 5 the end of another owner's lease that is known to be stale, or null.
insert into {schema}.locks as l (name, owner, fence, until) values ($1, $2, 1, $3)
on conflict (name) do update set
  owner = excluded.owner,
  fence = case when l.owner = excluded.owner and l.until > $4 then l.fence else l.fence + 1 end,
  until = case when l.owner = excluded.owner and l.until > $4 then greatest(l.until, excluded.until) else excluded.until end
  where l.owner = excluded.owner or l.until <= $4 or l.until = $5
returning fence, until
