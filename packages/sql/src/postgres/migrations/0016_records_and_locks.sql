-- Small JSON documents, of everything administrative. Without a value a record was removed; its row stays for a while, and
-- so does the row of one that has expired, so that the next record of the same key takes a higher version. `mark` is the
-- call that wrote the row last: repeated after its answer was lost, the call finds out that it was done.
create table {schema}.records (
  tenant text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  value text,
  created_at bigint not null,
  updated_at bigint not null,
  expires_at bigint,
  mark text not null,
  primary key (tenant, kind, id)
);

-- What pruning reads.
create index records_expiring on {schema}.records (expires_at) where expires_at is not null;

-- Rows are never removed: the fence must not restart. A lock is free from `until` on; `owner` held it last. `mark` is the
-- call that released it last.
create table {schema}.locks (
  name text collate "C" primary key,
  owner text not null,
  fence bigint not null,
  until bigint not null,
  mark text
);
