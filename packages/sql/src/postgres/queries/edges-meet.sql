-- Marks the edges from those of the given jobs that have completed, and answers which these are.
-- Parameters: 1 tenant, 2 parents.
with done as materialized (
  select p from unnest($2::uuid[]) p where {schema}.has_completed_v1($1, p)
),
met as (
  update {schema}.edges set met = true
  where tenant = $1 and parent = any (array(select p from done)) and not met
)
select p from done
