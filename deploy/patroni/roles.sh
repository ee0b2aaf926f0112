#!/bin/bash
# Patroni runs this when it has created the cluster (bootstrap.post_bootstrap), with the superuser's
# address as the last parameter. Makes the database and its roles. Their passwords are files in
# /etc/patroni/roles, named like the roles, which only `postgres` can read; delete them later. A role
# without a file gets no password and cannot connect. `migrate` grants the rights.
set -euo pipefail
passwords=/etc/patroni/roles
address=${!#}

run() { psql "$address" --no-psqlrc --quiet --set ON_ERROR_STOP=1; }

# The password comes through the environment: other users can read the arguments of a process.
for role in migrate keeper gateway cabinet worker operator auditor; do
  export ROLE=tollgate_$role ROLE_PASSWORD=
  run <<'SQL'
\getenv role ROLE
create role :"role" login;
SQL
  [ -e "$passwords/$ROLE" ] || continue
  ROLE_PASSWORD=$(tr -d '[:space:]' < "$passwords/$ROLE")
  run <<'SQL'
\getenv role ROLE
\getenv password ROLE_PASSWORD
alter role :"role" password :'password';
SQL
done

run <<'SQL'
grant tollgate_keeper to tollgate_migrate;
create database tollgate owner tollgate_migrate;
SQL
