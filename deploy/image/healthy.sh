# Exits with 0 when the listener on port $1 of this container answers 200 to GET /healthz, else with 1.
# bash opens the connection by itself: starting Node.js for each question would cost twenty times the CPU time and memory.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 2 _ status _ <&3
[ "$status" = 200 ]
