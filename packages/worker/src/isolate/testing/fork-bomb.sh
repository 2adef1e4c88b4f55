# At most 95 processes: a tree of 5 levels, the last of which starts and ends processes without rest.
# Ends by itself after the seconds of the first argument.
end=$(($(date +%s) + $1))
bomb() {
  if [ "$1" -gt 0 ]; then
    bomb $(($1 - 1)) &
    bomb $(($1 - 1)) &
    wait
  else
    while [ "$(date +%s)" -lt "$end" ]; do (:); done
  fi
}
bomb 5
