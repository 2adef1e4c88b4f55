-- The queues that keep nothing of their completed jobs.
select tenant, name from queues where keeps = 0
