#!/bin/bash
# phpMyAdmin: its pages, and what its forms do.
. "$(dirname "$0")/common.sh"
need /usr/share/phpmyadmin
cp -rL /usr/share/phpmyadmin "$DIR/pma"
mkdir -p "$DIR/pma/tmp"
sql -e "CREATE DATABASE pm COLLATE utf8mb4_general_ci; USE pm;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(20), d DATETIME, t TEXT, b VARBINARY(10), e ENUM('x','y'), KEY (n));
INSERT INTO a (n, d, t, b, e) VALUES ('one', '2020-01-01 00:00:00', 'text', 0xFF, 'x'), ('two', NULL, NULL, NULL, 'y');
CREATE TABLE c (id INT, aid INT, CONSTRAINT fk FOREIGN KEY (aid) REFERENCES a (id)); CREATE VIEW v AS SELECT n FROM a"
cat >"$DIR/pma/config.inc.php" <<P
<?php \$cfg['blowfish_secret'] = '12345678901234567890123456789012'; \$cfg['Servers'][1] = ['host' => '127.0.0.1', 'port' => '$PORT', 'auth_type' => 'config', 'user' => 'root', 'password' => '', 'AllowNoPassword' => true];
\$cfg['TempDir'] = '$DIR/pma/tmp'; \$cfg['SendErrorReports'] = 'never';
P
sed -i "s@/etc/phpmyadmin/@$DIR/pma/@" "$DIR/pma/libraries/vendor_config.php"
serve "$DIR/pma"
token=$(web "$URL/index.php?route=/" | grep -o 'token:"[^"]*"' | head -1 | cut -d'"' -f2)
for r in / /server/databases /server/status /server/status/processes /server/status/queries /server/status/variables /server/status/monitor /server/status/advisor /server/variables \
    /server/collations /server/engines /server/engines/InnoDB /server/privileges /server/plugins /server/export /server/import /server/sql /server/binlog /server/replication \
    "/server/privileges&username=root&hostname=%25" /navigation "/database/structure&db=pm" "/database/sql&db=pm" "/database/search&db=pm" "/database/export&db=pm" "/database/operations&db=pm" \
    "/database/routines&db=pm" "/database/events&db=pm" "/database/triggers&db=pm" "/database/designer&db=pm" "/database/data-dictionary&db=pm" "/database/tracking&db=pm" \
    "/database/central-columns&db=pm" "/table/structure&db=pm&table=a" "/sql&db=pm&table=a&pos=0" "/sql&db=pm&table=v&pos=0" "/table/search&db=pm&table=a" "/table/change&db=pm&table=a" \
    "/table/operations&db=pm&table=a" "/table/indexes&db=pm&table=a" "/table/relation&db=pm&table=c" "/table/export&db=pm&table=a" "/table/tracking&db=pm&table=a" "/table/triggers&db=pm&table=a" \
    "/table/structure&db=pm&table=v" "/table/zoom-search&db=pm&table=a" "/sql&db=pm&table=a&sql_query=EXPLAIN+SELECT+*+FROM+a" "/sql&db=pm&sql_query=SHOW+PROFILES"; do
    web "$URL/index.php?route=$r" -o "$DIR/page" -w "$r %{http_code}\n"
    faults "$DIR/page"
done
post() {
    web --data-urlencode "token=$token" -d "ajax_request=true&server=1" "${@:2}" "$URL/index.php?route=$1" -o "$DIR/page" -w "$1 %{http_code} "
    grep -o '"success":[a-z]*\|"error":"[^"]\{0,200\}' "$DIR/page" | tr '\n' ' '
    echo
}
post /sql --data-urlencode "sql_query=SELECT * FROM a ORDER BY n DESC" -d "db=pm&table=a"
post /import --data-urlencode "sql_query=INSERT INTO a (n) VALUES ('three'); SELECT 1; UPDATE a SET t = 'x' WHERE id = 2;" -d "db=pm&table=a&is_js_confirmed=0&sql_delimiter=;"
post /table/add-field -d "db=pm&table=a&field_name[0]=extra&field_type[0]=INT&field_length[0]=&field_default_type[0]=NONE&field_where=last&num_fields=1&orig_num_fields=1&orig_field_where=last&do_save_data=1&field_null[0]=YES"
post /table/operations -d "db=pm&table=a&submitcopy=1&target_db=pm&new_name=acopy&what=data"
post /table/operations -d "db=pm&table=a&submitoptions=1&new_name=arenamed&comment=hi&tbl_collation=utf8mb4_general_ci&new_auto_increment=50&prev_comment="
for what in check optimize analyze; do post "/table/maintenance/$what" -d "db=pm&selected_tbl[]=arenamed"; done
post /database/operations -d "db=pm&db_copy=true&newname=pm2&what=data&create_database_before_copying=1&add_constraints=1"
post /server/databases/create -d "new_db=pmnew&db_collation=utf8mb4_general_ci"
web --data-urlencode "token=$token" -d "server=1&export_type=database&export_method=quick&quick_or_custom=custom&db=pm&what=sql&table_select[]=c&table_select[]=arenamed&table_structure[]=c&table_structure[]=arenamed&table_data[]=c&table_data[]=arenamed&output_format=sendit&sql_structure_or_data=structure_and_data&sql_create_table=something&sql_auto_increment=something&sql_insert_syntax=both&sql_max_query_size=50000&sql_backquotes=something&sql_hex_for_binary=something&filename_template=@DATABASE@" \
    "$URL/index.php?route=/export" | grep -v "^--\|^$"
sql -e "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA LIKE 'pm%' ORDER BY 1, 2, 3; SELECT * FROM pm.arenamed"
sql -e "DROP DATABASE IF EXISTS pm2; DROP DATABASE IF EXISTS pmnew"
