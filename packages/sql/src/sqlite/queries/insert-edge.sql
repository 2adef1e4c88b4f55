-- Parameters: 1 tenant, 2 parent, 3 child.
insert into edges (tenant, parent, child) values (?1, ?2, ?3) on conflict do nothing
