#!/bin/sh
# Debian's PostgreSQL, started as the public image of PostgreSQL starts.
set -eu
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/stand-in
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -s "$data/PG_VERSION" ]; then
  install -d -o postgres -m 700 "$data"
  (umask 077 && printf '%s' "$POSTGRES_PASSWORD" > /tmp/password && chown postgres /tmp/password)
  as_postgres "$bin/initdb" -D "$data" -U "$POSTGRES_USER" -E UTF8 --pwfile=/tmp/password \
    --auth-local=trust --auth-host=scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  echo "create database $POSTGRES_DB" | as_postgres "$bin/postgres" --single -D "$data" postgres
fi
install -d -o postgres /var/run/postgresql
exec setpriv --reuid postgres --regid postgres --clear-groups "$bin/postgres" -D "$data" \
  -c 'listen_addresses=*'
