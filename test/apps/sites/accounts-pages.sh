#!/bin/bash
# The account pages of phpMyAdmin and Adminer: as clerk, who makes accounts and passes on
# the privileges on one database, and as plain, who may use one table.
. "$(dirname "$0")/common.sh"
need /usr/share/phpmyadmin
need /usr/share/adminer
cp -rL /usr/share/phpmyadmin "$DIR/pma" && mkdir -p "$DIR/pma/tmp" && cp -rL /usr/share/adminer/. "$DIR/pma/"
plugin=caching_sha2_password
maria=$(sql -N -e "SELECT VERSION()" | grep MariaDB) && plugin=mysql_native_password
sql -e "CREATE DATABASE acc COLLATE utf8mb4_general_ci; CREATE DATABASE other; CREATE TABLE other.o (id INT); USE acc;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(20)); CREATE TABLE hidden (id INT PRIMARY KEY); INSERT INTO a (n) VALUES ('one');
CREATE USER clerk IDENTIFIED BY 'secret'; GRANT CREATE USER, RELOAD ON *.* TO clerk WITH GRANT OPTION; GRANT SELECT ON mysql.* TO clerk;
GRANT ALL ON acc.* TO clerk WITH GRANT OPTION; GRANT ALL ON \`newbie%\`.* TO clerk WITH GRANT OPTION;
CREATE USER plain IDENTIFIED BY 'secret'; GRANT SELECT, INSERT ON acc.a TO plain"
# MariaDB changes passwords, also by GRANT, only for who may write to mysql.
[ -n "$maria" ] && sql -e "GRANT UPDATE ON mysql.* TO clerk"
cat >"$DIR/pma/config.inc.php" <<P
<?php \$cfg['blowfish_secret'] = '12345678901234567890123456789012'; \$cfg['Servers'][1] = ['host' => '127.0.0.1', 'port' => '$PORT', 'auth_type' => 'config', 'user' => trim(file_get_contents('$DIR/who')), 'password' => 'secret'];
\$cfg['TempDir'] = '$DIR/pma/tmp'; \$cfg['SendErrorReports'] = 'never';
P
sed -i "s@/etc/phpmyadmin/@$DIR/pma/@" "$DIR/pma/libraries/vendor_config.php"
echo clerk >"$DIR/who"
serve "$DIR/pma"

# as changes the account, and sees whether pages and forms know it.
as() {
    echo "--- $1"
    echo "$1" >"$DIR/who"
    rm -f "$DIR/jar"
    token=$(web "$URL/index.php?route=/" | grep -o 'token:"[^"]*"' | head -1 | cut -d'"' -f2)
}

# lines are the rows of a page that name one of the accounts, or a refusal.
lines() {
    php -r '$t = preg_replace("~<script.*?</script>~s", " ", file_get_contents($argv[1]));
foreach (preg_split("~</?(?:div|p|tr|li|h\d|table|form|fieldset|option|label)[^>]*>~", $t) as $l) {
    $l = trim(preg_replace("~\s+~u", " ", html_entity_decode(strip_tags($l))));
    if (preg_match("~\b(clerk|plain|newbie)\b|No privileges|#\d{4}|denied~", $l) && !preg_match("~Server: |Queried time~", $l)) echo "    ", substr($l, 0, 200), "\n";
}' "$DIR/page" | sort -u
}
get() { web "$URL/index.php?route=$1" -o "$DIR/page" -w "$1 %{http_code}\n"; lines; }

# post sends a form, whose answer is a message or the number of an error.
post() {
    web --data-urlencode "token=$token" -d "server=1&ajax_request=true" -d "$1" "$URL/index.php?route=/server/privileges" -o "$DIR/page" -w "${2:+$2 }${1:0:90} %{http_code} "
    php -r '$j = json_decode(file_get_contents($argv[1]), true) ?: ["success" => false];
$m = trim(preg_replace("~\s+~u", " ", html_entity_decode(strip_tags(($j["error"] ?? "") . ($j["message"] ?? "")))));
$m = preg_replace("~ IDENTIFIED BY PASSWORD .[*]\w*.~", "", $m);
echo $j["success"] ? "ok " : "FAILED ", preg_match("~#\d{4}.*~", $m, $e) ? $e[0] : substr($m, 0, 90), "\n";' "$DIR/page"
}
show() {
    sql -e "SELECT User, Host, Select_priv, Create_user_priv, max_questions FROM mysql.user WHERE User RLIKE '^(newbie|second|copied)' ORDER BY 1;
SELECT * FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE RLIKE 'newbie|copied' ORDER BY 1, 3, 4;
SELECT * FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE RLIKE 'newbie|copied' ORDER BY 1, 4, 5;
SELECT * FROM information_schema.COLUMN_PRIVILEGES WHERE GRANTEE RLIKE 'newbie|copied' ORDER BY 1, 4, 5, 6" | grep -v "DELETE HISTORY" # of MariaDB
}
limits="max_questions=0&max_updates=0&max_connections=0&max_user_connections=0&ssl_type=NONE"
newbie="username=newbie&hostname=%25"
as clerk
for r in / /server/databases "/server/privileges&initial=P" "/server/privileges&adduser=1" "/server/privileges&username=plain&hostname=%25" "/server/privileges&username=plain&hostname=%25&dbname=acc" \
    "/server/privileges&username=plain&hostname=%25&dbname=acc&tablename=a" "/server/privileges&db=acc&checkprivsdb=acc&viewing_mode=db" \
    "/server/privileges&db=acc&table=a&checkprivsdb=acc&checkprivstable=a&viewing_mode=table"; do get "$r"; done
add="adduser_submit=1&pred_username=userdefined"
limits+="&authentication_plugin=$plugin"
post "$add&username=newbie&pred_hostname=any&hostname=%25&pred_password=userdefined&pma_pw=Secret-22&pma_pw2=Secret-22&createdb-1=on&$limits"
post "$add&username=second&pred_hostname=localhost&hostname=localhost&pred_password=none&Create_user_priv=Y&$limits"
post "$add&username=second&pred_hostname=localhost&hostname=localhost&pred_password=none&$limits"
post "$add&username=third&pred_hostname=localhost&hostname=localhost&pred_password=none&Select_priv=Y&$limits"
post "update_privs=1&$newbie&dbname=acc&Select_priv=Y&Insert_priv=Y&Create_view_priv=Y&Event_priv=Y&grant_count=18"
post "update_privs=1&$newbie&dbname=acc&tablename=a&Select_priv%5B%5D=id&Update_priv%5B%5D=n&Delete_priv=Y&grant_count=13"
post "update_privs=1&$newbie&dbname=other&Select_priv=Y&grant_count=18"
post "update_privs=1&$newbie&Create_user_priv=Y&grant_count=29&$limits"
post "update_privs=1&$newbie&Shutdown_priv=Y&grant_count=29&$limits"
get "/server/privileges&$newbie"
get "/server/privileges&$newbie&dbname=acc"
get "/server/privileges&$newbie&dbname=acc&tablename=a"
show
post "change_pw=1&$newbie&nopass=0&pma_pw=Secret-33&pma_pw2=Secret-33&authentication_plugin=$plugin" passes
post "change_copy=1&mode=4&old_username=newbie&old_hostname=%25&old_userlocked=N&pred_username=userdefined&username=copied&pred_hostname=any&hostname=%25&pred_password=none&$limits"
post "revokeall=1&$newbie&dbname=acc&tablename=a"
show
post "submit_mult=export&selected_usr%5B%5D=newbie%26amp%3B%2327%3B%25" | cut -c1-140
post "delete=1&mode=2&drop_users_db=1&selected_usr%5B%5D=newbie%26amp%3B%2327%3B%25&selected_usr%5B%5D=copied%26amp%3B%2327%3B%25&selected_usr%5B%5D=second%26amp%3B%2327%3Blocalhost"
post "flush_privileges=1" | cut -c1-60
show
as plain
for r in / /server/databases /server/privileges "/server/privileges&username=plain&hostname=%25" "/database/structure&db=acc" "/sql&db=acc&table=a&pos=0" "/sql&db=acc&table=hidden&pos=0" \
    "/table/structure&db=acc&table=a" "/server/user-groups" "/user-password" /navigation; do get "$r"; done
grep -c hidden "$DIR/page"
post "$add&username=fourth&pred_hostname=any&hostname=%25&pred_password=none&$limits"
post "update_privs=1&username=plain&hostname=%25&Super_priv=Y&grant_count=29&$limits"
for who in clerk plain; do
    echo "--- Adminer, $who"
    rm -f "$DIR/jar"
    web -L -d "auth[driver]=server&auth[server]=127.0.0.1:$PORT&auth[username]=$who&auth[password]=secret&auth[db]=" "$URL/adminer.php" -o "$DIR/page" -w "login %{http_code}\n"
    token=$(grep -o "name=['\"]token['\"] value=['\"][^'\"]*" "$DIR/page" | head -1 | sed "s/.*['\"]//")
    page="$URL/adminer.php?server=127.0.0.1%3A$PORT&username=$who"
    for r in "" "&privileges=" "&user=plain&host=%25" "&user=clerk&host=%25" "&user=" "&db=acc&privileges=" "&db=acc" "&processlist="; do
        web "$page$r" -o "$DIR/page" -w "$r %{http_code}\n"
        faults "$DIR/page"
        grep -o "name=['\"]grants\[[^>]*checked\|<a href='[^']*user=\(plain\|clerk\)[^>]*" "$DIR/page" | sed "s/.*grants.[0-9]*./grants /;s/value.*//;s/.*\(user=[^']*\).*/\1/" | sort | grep -v 'UPDATE]' | head -20
    done
    post() {
        web -L -d "token=$token" -d "$2" "$page$1" -o "$DIR/page" -w "$1 %{http_code} "
        grep -o "class='error'>[^<]*\|class='message'>[^<]*" "$DIR/page" | sed 's/ `acc`\.\|`//g' | head -1
    }
    user="&pass=Secret-4&host=%25&objects[0]=acc.*&grants[0][SELECT]=1&grants[0][INSERT]=1"
    post "&user=" "user=ada$user"
    post "&user=ada&host=%25" "user=ada2&pass=&hashed=&host=%25&objects[0]=acc.*&grants[0][SELECT]=1&grants[0][UPDATE]=1"
    sql -e "SELECT * FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '''ada%' ORDER BY 4"
    post "&user=ada2&host=%25" "drop=1"
done
sql -e "SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'ada%'"
