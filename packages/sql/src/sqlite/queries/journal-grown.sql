-- Which jobs have said something since a position.
-- Parameters: 1 position, 2 limit.
select pos, job from journal where pos > ?1 order by pos limit ?2
