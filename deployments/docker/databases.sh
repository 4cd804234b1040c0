#!/bin/sh
# Runs once, when PostgreSQL starts on an empty volume: a database and its only owner for Prefect and for the answers.
set -eu

create() {
    psql --set=ON_ERROR_STOP=1 --username=postgres --set=name="$1" --set=password="$2" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
}

create prefect "$PREFECT_DB_PASSWORD"
create contrapose "$CONTRAPOSE_DB_PASSWORD"
