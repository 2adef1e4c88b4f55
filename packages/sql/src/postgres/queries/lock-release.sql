-- Parameters: 1 name, 2 owner, 3 fence, 4 now, 5 mark.
update {schema}.locks set until = $4, mark = $5
where name = $1 and owner = $2 and fence = $3 and (until > $4 or mark = $5)
returning 1
