-- Small JSON documents, of everything administrative. Without a value a record was removed; its row stays for a while, and
-- so does the row of one that has expired, so that the next record of the same key takes a higher version.
create table records (
  tenant text not null,
  kind text not null,
  id text not null,
  version integer not null,
  value text,
  created_at integer not null,
  updated_at integer not null,
  expires_at integer,
  primary key (tenant, kind, id)
) strict;

-- What pruning reads.
create index records_expiring on records (expires_at) where expires_at is not null;

-- Rows are never removed: the fence must not restart. A lock is free from `until` on; `owner` held it last.
create table locks (
  name text not null primary key,
  owner text not null,
  fence integer not null,
  until integer not null
) strict, without rowid;
