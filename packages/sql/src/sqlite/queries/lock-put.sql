-- Parameters: 1 name, 2 owner, 3 fence, 4 until.
insert into locks (name, owner, fence, until) values (?1, ?2, ?3, ?4)
on conflict do update set owner = ?2, fence = ?3, until = ?4
