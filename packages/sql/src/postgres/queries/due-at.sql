-- Null where nothing will ever be due.
select {schema}.due_at_v2()
