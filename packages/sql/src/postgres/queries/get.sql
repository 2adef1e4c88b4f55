-- Parameters: 1 tenants, 2 ids.
select {columns} from {schema}.get_v1($1, $2)
