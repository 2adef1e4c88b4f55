-- As insert, but waits only so long for whoever is about to take one of the idempotency keys. The time is set before the
-- function is called, and for this statement alone.
-- Parameters: as of insert_v1, and 47 milliseconds to wait for a lock.
select {schema}.insert_v1(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
  $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45,
  $46
)
from (select set_config('lock_timeout', $47, true)) as lock_wait
