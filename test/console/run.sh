#!/bin/sh
# Tests the console in a browser. Needs node, npm and chromium:
#
#	apt-get install -y --no-install-recommends chromium nodejs npm
#	test/console/run.sh [directory for pictures]
#
# SQLOTS names a binary to test; else it is built. PORT is the first of three free ports. DEV=1
# takes the pages from the repository rather than from the binary.
# It is not in CI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
pictures=${1:-$(mktemp -d)}
mkdir -p "$pictures"
work=$(mktemp -d)
mkdir "$work/backups"
port=${PORT:-14790}
binary=${SQLOTS:-$work/sqlots}
node "$here/pure.mjs"
[ -n "${SQLOTS:-}" ] || (cd "$here/../.." && go build -o "$binary" ./cmd/sqlots)
[ -d "$here/node_modules" ] || (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund)
"$binary" serve --data "$work/data" --listen "127.0.0.1:$port" --http "127.0.0.1:$((port + 1))" --memory 512MiB --backup-dir "$work/backups" >"$work/log" 2>&1 &
server=$!
dev=
trap 'kill $server $dev 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$work"' EXIT
i=0
until curl -sf "http://127.0.0.1:$((port + 1))/readyz" >/dev/null; do
	i=$((i + 1))
	[ $i -lt 100 ] || { tail -n 20 "$work/log"; exit 1; }
	sleep 0.2
done
url=http://127.0.0.1:$((port + 1))
if [ -n "${DEV:-}" ]; then
	node "$here/dev.mjs" "127.0.0.1:$((port + 2))" "$url" &
	dev=$!
	url=http://127.0.0.1:$((port + 2))
	sleep 1
fi
node "$here/console.mjs" "$url" "$pictures" || { tail -n 20 "$work/log"; exit 1; }
echo "pictures: $pictures"
