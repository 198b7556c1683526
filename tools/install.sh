#!/bin/sh
# Installs the packages of package-lock.json. make runs it when node_modules is missing or older than the lock.
# $1 is the file that marks a complete installation.
set -eu

fail() {
  echo "$1" >&2
  exit 1
}

command -v node >/dev/null 2>&1 || fail 'Node.js is missing: install version 20 or newer (https://nodejs.org), then try again.'
command -v npm >/dev/null 2>&1 || fail 'npm is missing: it comes with Node.js (https://nodejs.org); some distributions package it apart.'
found=$(node -p 'process.versions.node')
[ "${found%%.*}" -ge 20 ] || fail "Node.js $found is too old: install version 20 or newer (https://nodejs.org), then try again."

# Two installations at once would delete each other's files. The lock file is outside node_modules, which npm empties.
lock=.installing
claim() {
  (set -C && echo "$$" >"$lock") 2>/dev/null
}
if ! claim; then
  other=$(cat "$lock" 2>/dev/null || true)
  if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
    fail "Another installation is running (process $other): wait for it, then try again."
  fi
  rm -f "$lock"
  claim || fail 'Cannot write to this folder.'
fi
trap 'rm -f "$lock"' EXIT

# A person must see that the installation is alive: seconds on a terminal, else a line every 10 s for a log.
show() {
  if [ -t 1 ]; then
    printf '\rInstalling packages (about a minute, once) … %d s' "$1"
  elif [ "$(($1 % 10))" -eq 0 ]; then
    echo "Installing packages (about a minute, once) … $1 s"
  fi
}
progress() {
  seconds=0
  while sleep 1 && kill -0 "$$" 2>/dev/null; do
    seconds=$((seconds + 1))
    show "$seconds"
  done
}

# Ends a job with its children; a shell that has no job control gives it no process group of its own.
end() {
  kill -KILL -- "-$1" 2>/dev/null || kill -KILL "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# npm takes 20 s to obey Ctrl-C; in the background it can be killed at once. The next run starts over.
# $! is the process that was started last: a signal may come before a line could give that process a name.
stop() {
  { end "$!"; end "$printer"; } 2>/dev/null
  echo
  echo 'Stopped. The next run starts the installation over.'
  exit "$1"
}

set -m 2>/dev/null || true
show 0
progress &
printer=$!
trap 'stop 130' INT
trap 'stop 143' TERM HUP
# Without the two --include, NODE_ENV=production or a user's npmrc would leave out packages that this project runs.
npm ci --include=dev --include=optional --no-progress --no-update-notifier --no-audit --no-fund --loglevel=error >/dev/null &
npm=$!
status=0
wait "$npm" || status=$?
{ end "$printer"; } 2>/dev/null
trap - INT TERM HUP
[ ! -t 1 ] || echo
[ "$status" -eq 0 ] || fail 'npm could not install the packages; its message is above. Try again when the cause is gone.'

node_modules/.bin/node --version >/dev/null 2>&1 ||
  fail 'The packages are installed, but the Node.js 24 among them does not run: remove node_modules and try again.'
touch "$1"
