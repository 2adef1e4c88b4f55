-- Which start of the worker was seen last, and which one the directive was given to: it is for that one, and neither for those
-- that come after it nor for another one that lives beside it.
alter table {schema}.workers add column instance text, add column directed text;
