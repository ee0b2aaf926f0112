#!/bin/bash
# Gives the database its roles and their passwords, as the superuser; nothing else connects as it.
# Each secret file *_database_url has the address of one program, such as
# postgres://tollgate_gateway:<password>@database/tollgate; the role and its password are taken from
# it. May be repeated, for example after a password was changed. `migrate` grants the rights.
set -euo pipefail
secrets=${SECRETS_DIRECTORY:-/run/secrets}
PGPASSWORD=$(tr -d '[:space:]' < "$secrets/database_password")
export PGPASSWORD

# Sets `role` and `password` from the address in a secret file.
read_address() {
  local url
  url=$(tr -d '[:space:]' < "$secrets/$1_database_url")
  if [[ ! $url =~ ^postgres(ql)?://([a-z_][a-z0-9_]*):([A-Za-z0-9_.~-]+)@ ]]; then
    echo "$1_database_url: expected postgres://role:password@…, without special characters" >&2
    exit 1
  fi
  role=${BASH_REMATCH[2]}
  password=${BASH_REMATCH[3]}
}

# The password comes through the environment: other users can read the arguments of a process.
for program in migrate keeper gateway cabinet worker operator; do
  read_address "$program"
  # The owner of an older installation may be the superuser itself, whose role must stay as it is.
  [ "$role" = "$PGUSER" ] && continue
  ROLE=$role ROLE_PASSWORD=$password psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<'SQL'
\getenv role ROLE
\getenv password ROLE_PASSWORD
select format('create role %I', :'role')
where not exists (select from pg_roles where rolname = :'role') \gexec
alter role :"role" login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
  password :'password';
SQL
done

# No program is the auditor, but `migrate` grants it its rights. Give it a password to use it.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<'SQL'
select 'create role tollgate_auditor login'
where not exists (select from pg_roles where rolname = 'tollgate_auditor') \gexec
SQL

read_address keeper
keeper=$role
read_address migrate
[ "$role" = "$PGUSER" ] && exit
ROLE=$role KEEPER=$keeper psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<'SQL'
\getenv role ROLE
\getenv keeper KEEPER
grant :"keeper" to :"role";
select format('alter database %I owner to %I', current_database(), :'role') \gexec
SQL
