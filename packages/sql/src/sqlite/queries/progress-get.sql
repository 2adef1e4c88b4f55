-- Parameters: 1 tenant, 2 id.
select run, number, sequence, fraction, data, checkpoint, at from progress where tenant = ?1 and id = ?2
