-- Parameters: 1 tenant, 2 kind, 3 subject.
delete from subjects where tenant = ?1 and kind = ?2 and subject = ?3
