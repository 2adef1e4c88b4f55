-- Parameters: 1 name.
select owner, fence, until from locks where name = ?1
