#!/bin/sh
# Creates the role and the database of the services: the role owns its database and nothing else.
set -eu

psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv password SERVICE_PASSWORD
create role enterprise_api login nosuperuser nocreatedb nocreaterole password :'password';
create database enterprise_api owner enterprise_api;
SQL
