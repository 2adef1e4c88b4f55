-- A row has ended when the engine need not look at it again. Before, only a node whose dependents are still to be looked at
-- stayed among the living; now a dead letter that its job wants kept for a time of its own stays there too. Of apply_v1 only
-- this one condition changes.
do $do$
declare
  before text := pg_get_functiondef('{schema}.apply_v1'::regproc);
  after text := replace(before, 'not coalesce(advance_pending, false) as ends', 'next_at is null as ends');
begin
  if after = before then
    raise exception 'apply_v1 is not what this migration expects';
  end if;
  execute after;
end
$do$;
