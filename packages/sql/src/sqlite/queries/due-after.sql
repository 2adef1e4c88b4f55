-- When the sweep must look again, behind the jobs, the crons and the workflows that it was given. A damaged moment may be larger than a
-- number of JavaScript; then it is as good as the largest.
-- Parameters: 1 number of jobs given, 2 number of crons given, 3 number of workflows given.
select min(9007199254740991,
  (select next_at from jobs where next_at is not null order by next_at limit 1 offset ?1)
), min(9007199254740991,
  (select next_at from crons where next_at is not null and enabled = 1 order by next_at limit 1 offset ?2)
), min(9007199254740991,
  (select next_at from limits where next_at is not null order by next_at limit 1)
), min(9007199254740991,
  (select next_at from workflows where next_at is not null order by next_at limit 1 offset ?3)
)
