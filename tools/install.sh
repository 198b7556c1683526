#!/bin/sh
# Installs the packages, once: called by make when node_modules is missing or older than package-lock.json.
# $1 is the file that says so afterwards.
set -eu

fail() {
  echo "$1" >&2
  exit 1
}

command -v node >/dev/null 2>&1 || fail 'Node.js is missing: install version 20 or newer (https://nodejs.org), then try again.'
command -v npm >/dev/null 2>&1 || fail 'npm is missing: it comes with Node.js (https://nodejs.org); some distributions package it apart.'
found=$(node -p 'process.versions.node')
[ "${found%%.*}" -ge 20 ] || fail "Node.js $found is too old: install version 20 or newer (https://nodejs.org), then try again."

# While it is there, an installation is under way or was cut short; then what lies in node_modules cannot be trusted
# (npm does not run the install scripts of packages that it finds in place).
marker=node_modules/.install-running
claim() {
  mkdir -p node_modules
  (set -C && echo "$$" >"$marker") 2>/dev/null
}
if ! claim; then
  other=$(cat "$marker")
  if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
    fail "Another installation is running (process $other): wait for it, then try again."
  fi
  echo 'The last installation was cut short: starting over.'
  rm -rf node_modules packages/*/node_modules services/*/node_modules
  claim || fail 'Cannot write to node_modules here.'
fi
# npm takes 20 seconds to heed a Ctrl-C. In the background, where a terminal allows it in a process group of its own,
# it is ended at once: what it leaves behind is thrown away by the next run.
set -m 2>/dev/null || true
stop() {
  kill -KILL -- "-$npm" 2>/dev/null || kill -KILL "$npm" 2>/dev/null || true
  wait "$npm" 2>/dev/null || true
  echo 'Stopped. The next run starts the installation over.'
  exit "$1"
}

echo 'Installing packages (about a minute, once) …'
# An environment or npmrc that leaves packages out (NODE_ENV=production, say) would leave out what runs here.
npm install --include=dev --include=optional --no-save --no-update-notifier --no-audit --no-fund --loglevel=error &
npm=$!
trap 'stop 130' INT
trap 'stop 143' TERM HUP
wait "$npm" || fail 'npm could not install the packages; its message is above. Try again when the cause is gone.'
trap - INT TERM HUP

node_modules/.bin/node --version >/dev/null 2>&1 ||
  fail 'The packages are there, but Node.js 24 among them does not run: remove node_modules and try again.'

rm -f "$marker"
touch "$1"
