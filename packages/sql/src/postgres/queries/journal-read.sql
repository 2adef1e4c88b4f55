-- Parameters: as of read_journal_v1.
select run, after, first, last, first_at, last_at, stored_at, types, body, is_last
from {schema}.read_journal_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)
