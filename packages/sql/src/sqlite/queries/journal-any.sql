-- Whether there is a journal at all, and the last position that was given.
select
  exists (select 1 from journal),
  coalesce((select seq from sqlite_sequence where name = 'journal'), 0)
