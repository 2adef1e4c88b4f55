-- From now on rows that come in by SQL alone carry a reminder, as those of an engine over hints do.
-- Parameters: 1 milliseconds.
update {schema}.log_state set reminder_ms = $1 where reminder_ms is distinct from $1
