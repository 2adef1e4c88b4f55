-- Parameters: 1 claimed before.
delete from {schema}.claims where at < $1
