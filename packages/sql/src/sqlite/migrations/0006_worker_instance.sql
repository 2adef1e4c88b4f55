-- Which start of the worker was seen last: a directive is for that one, and not for those that come after it.
alter table workers add column instance text;
