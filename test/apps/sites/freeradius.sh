#!/bin/bash
# FreeRADIUS: users, groups and clients in tables; authentication, accounting, limits of
# use, pools of addresses, simultaneous use; the schemas of DHCP and CUI too.
. "$(dirname "$0")/common.sh"
need /etc/freeradius/3.0/mods-config
need_command radclient
cp -rL /etc/freeradius/3.0 "$DIR/radius"
cd "$DIR/radius" || exit
config=mods-config/sql
sql -e "CREATE DATABASE radius CHARACTER SET utf8mb4"
for f in main/mysql/schema.sql cui/mysql/schema.sql ippool/mysql/schema.sql dhcp/mysql/schema.sql ippool-dhcp/mysql/schema.sql; do
    echo "$f"
    sql -f radius <"$config/$f" 2>&1
done
sed "s/@'localhost'/@'%'/" "$config/main/mysql/setup.sql" | sql radius
sql radius -e "GRANT SELECT, INSERT, UPDATE, DELETE ON radius.* TO radius@'%'"
sed -i 's/^\s*dialect = "sqlite"/dialect = "mysql"/; s/^\s*driver = "rlm_sql_null"/driver = "rlm_sql_mysql"/
    s/^\s*radius_db = "radius"/radius_db = "radius"\nread_clients = yes\nserver = "127.0.0.1"\nport = '"$PORT"'\nlogin = "radius"\npassword = "radpass"/
    /^\s*tls {/,/}/d' mods-available/sql
sed -i 's/^skip_locked = ""/skip_locked = "SKIP LOCKED"/' "$config/ippool/mysql/queries.conf"
ln -sf ../mods-available/sql ../mods-available/sqlippool ../mods-available/sqlcounter mods-enabled/
rm -f mods-enabled/eap sites-enabled/*
sed -i '/^\s*user = /d; /^\s*group = /d; s/proxy_requests\s*=.*/proxy_requests = no/; /INCLUDE proxy.conf/d; s/start_servers = .*/start_servers = 2/; s/max_servers = .*/max_servers = 8/; s/max_spare_servers = .*/max_spare_servers = 4/' radiusd.conf
acct=$(free_port)
words() { printf '%s\n' "$@"; }
cat >sites-enabled/own <<P
server own {
    listen {
        type = auth
        ipaddr = 127.0.0.1
        port = $WEB
    }
    listen {
        type = acct
        ipaddr = 127.0.0.1
        port = $acct
    }
    authorize {
        $(words preprocess chap mschap sql dailycounter noresetcounter expiration logintime pap)
    }
    authenticate {
        Auth-Type PAP {
            pap
        }
        Auth-Type CHAP {
            chap
        }
    }
    preacct {
        $(words preprocess acct_unique)
    }
    accounting {
        $(words sql sqlippool)
    }
    session {
        sql
    }
    post-auth {
        $(words sqlippool sql)
        Post-Auth-Type REJECT {
            sql
        }
    }
}
P
sql radius <<'P'
INSERT INTO radcheck (username, attribute, op, value) VALUES ('ann', 'Cleartext-Password', ':=', 'secret'), ('bob', 'Cleartext-Password', ':=', 'pässwörd 😀'), ('cut', 'Crypt-Password', ':=', '$1$abc$BXBqpb9BZcZhXLgbee.0s/'),
    ('day', 'Cleartext-Password', ':=', 'x'), ('day', 'Max-Daily-Session', ':=', '1000'), ('one', 'Cleartext-Password', ':=', 'x'), ('one', 'Simultaneous-Use', ':=', '1'), ('old', 'Cleartext-Password', ':=', 'x'), ('old', 'Expiration', ':=', '01 Jan 2020'),
    ("o'neil", 'Cleartext-Password', ':=', 'x'), ('all', 'Cleartext-Password', ':=', 'x'), ('all', 'Max-All-Session', ':=', '50');
INSERT INTO radreply (username, attribute, op, value) VALUES ('ann', 'Reply-Message', '=', 'hello %{User-Name}'), ('ann', 'Framed-Route', '+=', '192.0.2.0/24'), ('ann', 'Framed-Route', '+=', '198.51.100.0/24');
INSERT INTO radusergroup (username, groupname, priority) VALUES ('ann', 'staff', 1), ('ann', 'all', 2), ('bob', 'pool', 1), ('one', 'all', 1);
INSERT INTO radgroupcheck (groupname, attribute, op, value) VALUES ('pool', 'Pool-Name', ':=', 'main'), ('staff', 'NAS-Port', '<', '100');
INSERT INTO radgroupreply (groupname, attribute, op, value) VALUES ('staff', 'Class', ':=', 'staff'), ('staff', 'Fall-Through', ':=', 'Yes'), ('all', 'Idle-Timeout', ':=', '600');
INSERT INTO nas (nasname, shortname, type, ports, secret, description) VALUES ('127.0.0.1', 'local', 'other', NULL, 'testing123', 'from the table');
INSERT INTO radippool (pool_name, framedipaddress) VALUES ('main', '192.0.2.1'), ('main', '192.0.2.2'), ('main', '192.0.2.3');
P
sed -i '/^client localhost/,/^}/d' clients.conf
freeradius -f -d "$DIR/radius" -l "$DIR/radius.log" -xx >"$DIR/out" 2>&1 &
trap "kill $! 2>/dev/null; wait" EXIT
for _ in $(seq 40); do grep -q "Ready to process" "$DIR/radius.log" 2>/dev/null && break; sleep 0.1; done

send() { printf '%s\n' "$3" | radclient -x -t 3 -r 1 "127.0.0.1:$1" "$2" testing123 2>&1 | grep -v '^Sent\|Message-Auth\|^\s*User-Password\|CHAP-\|^(0) -:' | sed 's/Id [0-9]*$/Id N/; s/Id [0-9]* /Id N /; s/ID [0-9]* socket/ID N socket/; s/from 127.0.0.1:[0-9]* to 127.0.0.1:[0-9]*//; s/port [0-9]*/port/; s/length [0-9]*//'; }
auth() { echo "== $1"; send "$WEB" auth "$1"; }
acct() { echo "== $1"; send "$acct" acct "$1"; }
auth 'User-Name=ann, User-Password=secret, NAS-Port=1'
auth 'User-Name=ann, User-Password=secret, NAS-Port=200'
auth 'User-Name=ann, User-Password=wrong'
auth 'User-Name=ann, CHAP-Password=secret, NAS-Port=1'
auth 'User-Name=ANN, User-Password=secret'
auth 'User-Name="o'"'"'neil", User-Password=x'
auth 'User-Name="x'"'"' OR '"'"'1'"'"' = '"'"'1", User-Password=x'
auth 'User-Name=nobody, User-Password=x'
auth 'User-Name=cut, User-Password=x'
auth 'User-Name=old, User-Password=x'
for port in 1 2 3 4 1; do auth "User-Name=bob, User-Password=\"pässwörd 😀\", NAS-Port=$port, NAS-IP-Address=127.0.0.1, Calling-Station-Id=c$port"; done
acct 'Acct-Status-Type=Start, User-Name=bob, Acct-Session-Id=b1, NAS-IP-Address=127.0.0.1, NAS-Port=1, Calling-Station-Id=c1, Framed-IP-Address=192.0.2.1'
acct 'Acct-Status-Type=Stop, User-Name=bob, Acct-Session-Id=b1, NAS-IP-Address=127.0.0.1, NAS-Port=1, Calling-Station-Id=c1, Framed-IP-Address=192.0.2.1, Acct-Session-Time=10, Acct-Input-Octets=4294967295, Acct-Input-Gigawords=3, Acct-Output-Octets=7, Acct-Terminate-Cause=User-Request'
sleep 1
auth 'User-Name=bob, User-Password="pässwörd 😀", NAS-Port=9, NAS-IP-Address=127.0.0.1, Calling-Station-Id=c9'
auth 'User-Name=one, User-Password=x, NAS-Port=5, NAS-IP-Address=127.0.0.1'
acct 'Acct-Status-Type=Start, User-Name=one, Acct-Session-Id=s1, NAS-IP-Address=127.0.0.1, NAS-Port=5'
acct 'Acct-Status-Type=Start, User-Name=one, Acct-Session-Id=s1, NAS-IP-Address=127.0.0.1, NAS-Port=5'
auth 'User-Name=one, User-Password=x, NAS-Port=6, NAS-IP-Address=127.0.0.1'
acct 'Acct-Status-Type=Interim-Update, User-Name=one, Acct-Session-Id=s1, NAS-IP-Address=127.0.0.1, NAS-Port=5, Acct-Session-Time=60, Acct-Input-Octets=5000'
acct 'Acct-Status-Type=Interim-Update, User-Name=one, Acct-Session-Id=unknown, NAS-IP-Address=127.0.0.1, NAS-Port=6, Acct-Session-Time=60'
acct 'Acct-Status-Type=Accounting-On, NAS-IP-Address=127.0.0.1'
auth 'User-Name=one, User-Password=x, NAS-Port=6, NAS-IP-Address=127.0.0.1'
for n in 1 2 3; do
    acct "Acct-Status-Type=Start, User-Name=all, Acct-Session-Id=a$n, NAS-IP-Address=127.0.0.2, NAS-Port=1"
    acct "Acct-Status-Type=Stop, User-Name=all, Acct-Session-Id=a$n, NAS-IP-Address=127.0.0.2, NAS-Port=1, Acct-Session-Time=20"
    auth "User-Name=all, User-Password=x" | sed 's/\(Session-Timeout = \).*/\1N/'
done
auth 'User-Name=day, User-Password=x' | sed 's/\(Session-Timeout = \).*/\1N/'
sql radius -e "SELECT radacctid, acctsessionid, username, nasipaddress, nasportid, acctstarttime IS NULL, acctupdatetime IS NULL, acctstoptime IS NULL, acctinterval >= 0, acctsessiontime >= 0, acctinputoctets, acctoutputoctets, acctterminatecause, framedipaddress FROM radacct ORDER BY radacctid"
sql radius -e "SELECT id, username, IF(pass LIKE '0x%', 'CHAP', pass), reply, authdate > '2020-01-01' FROM radpostauth ORDER BY id"
sql radius -e "SELECT id, pool_name, framedipaddress, nasipaddress, pool_key, username, expiry_time > NOW(), callingstationid FROM radippool ORDER BY id; SELECT * FROM nasreload" | sed 's/20[0-9-]* [0-9:]*/TIME/'
grep -a "rlm_sql" "$DIR/radius.log" | grep -a -i "error\|warn\|duplicate\|conflict" | sed 's/.*rlm_sql/rlm_sql/; s/([0-9]*)//; s/"[^"]*"/TEXT/; s/entry .[0-9a-f]*./entry KEY/; s/key .radacct\./key '"'"'/; s/  Changed: [0-9]*//' | sort | uniq -c
