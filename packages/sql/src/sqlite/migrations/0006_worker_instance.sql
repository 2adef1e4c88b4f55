-- Which start of the worker was seen last, and which one the directive was given to: it is for that one, and neither for those
-- that come after it nor for another one that lives beside it.
alter table workers add column instance text;
alter table workers add column directed text;
