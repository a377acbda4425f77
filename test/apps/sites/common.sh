# What the scripts of this folder share. They get PORT, the server's, WEB and DIR, a free
# port and a folder of their own, CACHE, a folder that stays, and ROOT, that of the
# sources. What they print has to be the same with every server; lines that begin with
# "passes" may be missing with MariaDB.
sql() { mysql --no-defaults -h127.0.0.1 -P"$PORT" -uroot --default-character-set=utf8mb4 "$@"; }

# need ends the script if a folder is missing, of a package or a download.
need() { [ -d "$1" ] || { echo "$1 is missing" >&2; exit 3; }; }

# need_command ends it if a program is missing.
need_command() { command -v "$1" >/dev/null || { echo "the program $1 is missing" >&2; exit 3; }; }

# free_port prints another port that is free.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# await_web waits until the web server answers.
await_web() {
    for _ in $(seq 300); do
        curl -s -o "$DIR/ready" "$URL/robots.txt" && return
        sleep 0.1
    done
}

# serve runs PHP's web server on a folder until the script ends.
serve() {
    php -d memory_limit=512M -d display_errors=0 -S "127.0.0.1:$WEB" -t "$1" >"$DIR/web.log" 2>&1 &
    trap "kill $! 2>/dev/null" EXIT
    await_web
}

URL="http://127.0.0.1:$WEB"
web() { curl -s -m 120 -b "$DIR/jar" -c "$DIR/jar" "$@"; }

# faults are the errors in a page, without times.
faults() { grep -a -o -i 'database error[^<]*\|fatal error[^<]*\|internal error[^<]*\|#[0-9]\{4\} - [^<]*\|mysqli_sql_exception[^<]*\|'"class='error'>[^<]*" "$1" | sort -u; }
