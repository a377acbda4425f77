#!/bin/bash
# PowerDNS: pdnsutil, zones with DNSSEC, queries, a transfer, dynamic updates, the HTTP API.
. "$(dirname "$0")/common.sh"
need /usr/share/pdns-backend-mysql
need_command dig
dns=$WEB
sql -e "CREATE DATABASE pdns; CREATE USER pdns@'%' IDENTIFIED BY 'secret'; GRANT ALL ON pdns.* TO pdns@'%'"
sql pdns </usr/share/pdns-backend-mysql/schema/schema.mysql.sql
sql pdns </usr/share/pdns-backend-mysql/schema/enable-foreign-keys.mysql.sql
api=$(free_port)
cat >"$DIR/pdns.conf" <<P
launch=gmysql
gmysql-host=127.0.0.1
gmysql-port=$PORT
gmysql-user=pdns
gmysql-password=secret
gmysql-dbname=pdns
gmysql-dnssec=yes
gmysql-innodb-read-committed=yes
local-address=127.0.0.1
local-port=$dns
socket-dir=$DIR
webserver=yes
webserver-address=127.0.0.1
webserver-port=$api
api=yes
api-key=key
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
allow-axfr-ips=127.0.0.0/8
primary=yes
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
default-soa-content=ns1.@ hostmaster.@ 1 3600 600 86400 300
loglevel=4
P
util() { pdnsutil --config-dir="$DIR" "$@" 2>&1 | grep -v '^[A-Z][a-z][a-z] [0-9 :]* '; }
rows() { sql pdns -e "SELECT * FROM $1"; }

util create-zone example.org ns1.example.org
for r in "@ NS ns2.example.org" "ns1 A 127.0.0.2" "ns2 A 127.0.0.3" "www 60 A 192.0.2.1" "www 60 AAAA 2001:db8::1" "@ MX 10 mail.example.org" "mail A 192.0.2.9" \
    '@ TXT "v=spf1 -all äöü"' "*.wild A 192.0.2.7" "deep.er.sub A 192.0.2.8" "alias CNAME www.example.org" "_sip._tcp SRV 1 2 5060 www.example.org"; do
    set -- $r
    if [ "$2" = 60 ]; then util add-record example.org "$1" "$3" 60 "${*:4}"; else util add-record example.org "$1" "$2" "${*:3}"; fi
done
util add-record example.org many A 192.0.2.10
for i in $(seq 11 40); do util add-record example.org many A "192.0.2.$i"; done | tail -1
util replace-rrset example.org www A 120 192.0.2.2 192.0.2.3
util delete-rrset example.org alias CNAME
util add-record example.org alias CNAME www.example.org
util set-kind example.org primary
util set-account example.org "some account"
util set-meta example.org ALSO-NOTIFY 192.0.2.77
util add-meta example.org ALSO-NOTIFY 192.0.2.78
util get-meta example.org
util increase-serial example.org
util list-zone example.org | sed 's/[0-9]\{10\}/SERIAL/' | sort
util check-zone example.org
util list-all-zones
util create-secondary-zone second.example 192.0.2.200
util change-secondary-zone-primary second.example 192.0.2.201 192.0.2.202
util list-all-zones secondary
util generate-tsig-key update hmac-sha256 | sed 's/ [^ ]*=*$//'
util import-tsig-key transfer hmac-sha256 kp4/24gyYsEzbuTVJRUMoqGFmN3LYgVDzJ/3oRSP7ys=
util activate-tsig-key example.org transfer primary
util list-tsig-keys | grep transfer
util create-zone signed.example ns1.example.org
util add-record signed.example www A 192.0.2.50
util secure-zone signed.example | sed 's/[0-9]\{2,\}/N/g'
util set-nsec3 signed.example '1 0 1 ab' 2>&1
util rectify-zone signed.example
util rectify-all-zones
util unset-nsec3 signed.example
util show-zone signed.example | sed 's/tag = [0-9]*/TAG/; s/IN DS [0-9]*/IN DS TAG/; s/[0-9a-fN]\{32,\}/HEX/g; s/[A-Za-z0-9+/]\{40,\}=*/KEY/g'
util import-zone-key signed.example "$DIR/none"
rows "domains"
sql pdns -e "SELECT domain_id, name, type, LEFT(content, 30), ttl, prio, disabled, ordername, auth FROM records WHERE type <> 'SOA' ORDER BY name, type, content"
sql pdns -e "SELECT domain_id, kind, content FROM domainmetadata ORDER BY domain_id, kind, content; SELECT domain_id, flags, active, published FROM cryptokeys ORDER BY id; SELECT name, algorithm FROM tsigkeys ORDER BY name"

pdns_server --config-dir="$DIR" --daemon=no --guardian=no >"$DIR/pdns.log" 2>&1 &
trap "kill $! 2>/dev/null; wait" EXIT
ask() { dig @127.0.0.1 -p "$dns" +time=5 +tries=1 +noall +answer +authority "$@" | grep -v '^;\|^$' | sed 's/[0-9]\{10,\}/SERIAL/g; s/SERIAL SERIAL [0-9]* .*/SIGNATURE/' | LC_ALL=C sort; }
status() { echo "$*: $(dig @127.0.0.1 -p "$dns" +time=5 +tries=1 +noall +comments "$@" | grep -o 'status: [A-Z]*\|ANSWER: [0-9]*' | tr '\n' ' ')"; }
for _ in $(seq 100); do [ -n "$(ask example.org SOA)" ] && break; sleep 0.1; done
for q in "example.org SOA" "example.org NS" "example.org MX" "example.org TXT" "www.example.org A" "www.example.org AAAA" "WWW.Example.ORG A" "alias.example.org A" "any.wild.example.org A" \
    "none.example.org A" "er.sub.example.org A" "deep.er.sub.example.org A" "_sip._tcp.example.org SRV" "example.org ANY" "+tcp many.example.org A" "signed.example DNSKEY +dnssec" \
    "www.signed.example A +dnssec" "none.signed.example A +dnssec" "other.example A"; do
    status $q
    ask $q | sed 's/\(DNSKEY\|RRSIG\)\s.*/\1/'
done
ask +tcp example.org AXFR -y hmac-sha256:transfer:kp4/24gyYsEzbuTVJRUMoqGFmN3LYgVDzJ/3oRSP7ys= | grep -v TSIG

util set-meta example.org TSIG-ALLOW-DNSUPDATE transfer
nsupdate -y hmac-sha256:transfer:kp4/24gyYsEzbuTVJRUMoqGFmN3LYgVDzJ/3oRSP7ys= <<P 2>&1
server 127.0.0.1 $dns
zone example.org
update add new.example.org 300 A 192.0.2.90
update add new.example.org 300 A 192.0.2.91
update delete mail.example.org A
send
prereq nxdomain new.example.org
update add other.example.org 300 A 192.0.2.92
send
P
for q in "new.example.org A" "mail.example.org A" "other.example.org A"; do status $q; ask $q; done

http() { curl -s -H 'X-API-Key: key' -H 'Content-Type: application/json' -w ' %{http_code}\n' "${@:2}" "http://127.0.0.1:$api/api/v1/servers/localhost$1" | sed "s/$api/API/g; s/[0-9]\{10,\}/SERIAL/g; s/notified_serial.: [0-9A-Z]*/NOTIFIED/g"; }
http /zones
http /zones -d '{"name":"api.example.","kind":"Native","nameservers":["ns1.example.org."],"rrsets":[{"name":"a.api.example.","type":"A","ttl":60,"records":[{"content":"192.0.2.3","disabled":false}],"comments":[{"content":"täg 😀","account":"me","modified_at":1700000000}]}]}'
http /zones/api.example. -X PATCH -d '{"rrsets":[{"name":"b.api.example.","type":"A","ttl":60,"changetype":"REPLACE","records":[{"content":"192.0.2.4","disabled":false},{"content":"192.0.2.5","disabled":true}]},{"name":"a.api.example.","type":"A","changetype":"DELETE"}]}'
http /zones/api.example.
http /zones/api.example. -X PATCH -d '{"rrsets":[{"name":"b.api.example.","type":"A","ttl":60,"changetype":"REPLACE","records":[{"content":"no address","disabled":false}]}]}'
http /zones/api.example./export
http "/search-data?q=*192.0.2.1*&max=20"
http "/search-data?q=a?i*&max=5"
http /zones/api.example./metadata -d '{"kind":"ALLOW-AXFR-FROM","metadata":["AUTO-NS","192.0.2.0/24"]}'
http /zones/api.example./metadata
http /zones/api.example./cryptokeys -d '{"keytype":"ksk","active":true}' | sed 's/[0-9a-f]\{20,\}/HEX/g; s/[A-Za-z0-9+/]\{40,\}=*/KEY/g; s/[0-9]\{4,\}/N/g' | cut -c1-60
http /zones/api.example./rectify -X PUT
http /tsigkeys -d '{"name":"fromapi","algorithm":"hmac-sha1"}' | sed 's/"key": *"[^"]*"/KEY/'
http /zones/api.example. -X DELETE
http /zones/none.example.
util delete-zone signed.example
util clear-zone example.org
sql pdns -e "SELECT COUNT(*) FROM records; SELECT name FROM domains ORDER BY name; SELECT COUNT(*) FROM cryptokeys; SELECT COUNT(*) FROM comments"
grep -a -i "error\|fail\|exception" "$DIR/pdns.log" | sed 's/^[A-Z][a-z][a-z] [0-9]* [0-9:]* //; s/UPDATE ([0-9]*)/UPDATE/; s/[0-9a-f-]\{36\}/ID/' | sort -u
