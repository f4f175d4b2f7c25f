#!/usr/bin/env bash
# Starts PostgreSQL as the user postgres, and creates its user and database if the data directory is empty.
set -euo pipefail
data=/var/lib/postgresql/data
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
as_postgres=(setpriv --reuid postgres --regid postgres --init-groups)

mkdir -p "$data" /run/postgresql
chown -R postgres "$data" /run/postgresql
chmod 700 "$data"
if [ ! -s "$data/PG_VERSION" ]; then
  # Only root can open the file that a process substitution makes.
  install -m 600 -o postgres /dev/null /run/postgresql/password
  echo "$POSTGRES_PASSWORD" >/run/postgresql/password
  "${as_postgres[@]}" initdb --pgdata "$data" --username "$POSTGRES_USER" --pwfile /run/postgresql/password --encoding UTF8 >/dev/null
  rm /run/postgresql/password
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  "${as_postgres[@]}" pg_ctl --pgdata "$data" --wait --options "-c listen_addresses=''" start >/dev/null
  "${as_postgres[@]}" createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  "${as_postgres[@]}" pg_ctl --pgdata "$data" --wait stop >/dev/null
fi
exec "${as_postgres[@]}" postgres -D "$data" -c "listen_addresses=*"
