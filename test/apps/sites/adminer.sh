#!/bin/bash
# Adminer: its pages, and what its forms do.
. "$(dirname "$0")/common.sh"
need /usr/share/adminer
mkdir -p "$DIR/ad" && cp -rL /usr/share/adminer/. "$DIR/ad/"
sql -e "CREATE USER ad@'%' IDENTIFIED BY 'secret'; GRANT ALL ON *.* TO ad@'%' WITH GRANT OPTION; CREATE DATABASE am COLLATE utf8mb4_general_ci; USE am;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(20), d DATETIME, t TEXT, b VARBINARY(10), e ENUM('x','y'), KEY (n));
INSERT INTO a (n, d, t, b, e) VALUES ('one', '2020-01-01 00:00:00', 'text', 0xFF, 'x'), ('two', NULL, NULL, NULL, 'y');
CREATE TABLE c (id INT, aid INT, CONSTRAINT fk FOREIGN KEY (aid) REFERENCES a (id)); CREATE VIEW v AS SELECT n FROM a"
serve "$DIR/ad"
web -L -d "auth[driver]=server&auth[server]=127.0.0.1:$PORT&auth[username]=ad&auth[password]=secret&auth[db]=am" "$URL/adminer.php" -o "$DIR/page" -w "login %{http_code}\n"
token=$(grep -o "name=['\"]token['\"] value=['\"][^'\"]*" "$DIR/page" | head -1 | sed "s/.*['\"]//")
page="$URL/adminer.php?server=127.0.0.1%3A$PORT&username=ad"
for r in "" "&db=" "&processlist=" "&variables=" "&status=" "&privileges=" "&database=" "&db=am" "&db=am&table=a" "&db=am&select=a" "&db=am&select=v" "&db=am&table=v" "&db=am&edit=a&where%5Bid%5D=1" \
    "&db=am&create=a" "&db=am&indexes=a" "&db=am&foreign=c" "&db=am&foreign=c&name=fk" "&db=am&trigger=a" "&db=am&schema=" "&db=am&dump=" "&db=am&privileges=" "&db=am&procedure=" "&db=am&event=" \
    "&db=am&view=v" "&db=am&select=a&order%5B0%5D=n&desc%5B0%5D=1" "&db=am&select=a&columns%5B0%5D%5Bfun%5D=count&columns%5B0%5D%5Bcol%5D=id" \
    "&db=am&select=a&where%5B0%5D%5Bcol%5D=n&where%5B0%5D%5Bop%5D=LIKE+%25%25&where%5B0%5D%5Bval%5D=o" "&user=root&host=%25" "&user=" "&db=am&sql=select+1"; do
    web "$page$r" -o "$DIR/page" -w "$r %{http_code}\n"
    faults "$DIR/page"
done
post() {
    web -L -d "token=$token" "${@:2}" "$page$1" -o "$DIR/page" -w "$1 %{http_code}\n"
    grep -o "class='error'>[^<]*\|class='message'>[^<]*" "$DIR/page"
}
post "&db=am&sql=" --data-urlencode "query=INSERT INTO a (n) VALUES ('x'); UPDATE a SET t = 'q'; SELECT COUNT(*) FROM a;"
post "&db=am&edit=a&where%5Bid%5D=1" --data-urlencode "fields[n]=changed" -d "fields[id]=1&fields[t]=zz&fields[d]=2024-01-01+00%3A00%3A00&save=1"
post "&db=am&create=" -d "name=newt&fields[1][field]=id&fields[1][type]=int&fields[1][length]=&auto_increment_col=1&fields[2][field]=x&fields[2][type]=varchar&fields[2][length]=50&fields[2][null]=1&Engine=InnoDB&Collation="
post "&db=am&indexes=newt" -d "indexes[1][type]=INDEX&indexes[1][columns][1]=x&indexes[1][lengths][1]=10&indexes[1][name]=ix"
for what in optimize analyze check truncate copy drop; do post "&db=am" -d "tables[]=newt&$what=1&target=am"; done
web -d "token=$token&output=text&format=sql&db_style=&table_style=DROP%2BCREATE&data_style=INSERT&tables[]=a&tables[]=c&tables[]=v&data[]=a&data[]=c" "$page&db=am&dump=" | grep -v "^--\|^$" | sed 's/@`localhost`/@`%`/'
