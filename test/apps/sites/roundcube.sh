#!/bin/bash
# Roundcube over an IMAP server: schema and updates, login, mails, folders, search with
# the cache in tables, drafts, contacts, groups, identities, responses, settings, tools.
. "$(dirname "$0")/common.sh"
need /usr/share/roundcube
need /usr/lib/dovecot
imap=$(free_port)
mkdir -p "$DIR/run" "$DIR/temp" "$DIR/logs"
mail=$(mktemp -d) # the IMAP server is another user
chmod 755 "$mail"
chown www-data "$mail"
cat >"$DIR/dovecot.conf" <<P
base_dir = $DIR/run
state_dir = $DIR/run
log_path = $DIR/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:$mail/%u
first_valid_uid = 1
mail_uid = www-data
mail_gid = www-data
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=www-data gid=www-data home=$mail/%u
}
service imap-login {
  inet_listener imap {
    port = $imap
  }
  inet_listener imaps {
    port = 0
  }
  chroot =
}
service anvil {
  chroot =
}
namespace inbox {
  inbox = yes
  separator = /
}
P
dovecot -c "$DIR/dovecot.conf" -F >"$DIR/dovecot.out" 2>&1 &
dovecot=$!
cp -rL /usr/share/roundcube "$DIR/rc" 2>/dev/null
for d in /var/lib/roundcube/*; do [ -e "$DIR/rc/$(basename "$d")" ] || cp -rL "$d" "$DIR/rc/" 2>/dev/null; done
rm -rf "$DIR/rc/config" "$DIR/rc/logs" "$DIR/rc/temp"
mkdir "$DIR/rc/config" "$DIR/rc/logs" "$DIR/rc/temp"
cp /etc/roundcube/defaults.inc.php /etc/roundcube/mimetypes.php "$DIR/rc/config/"
cat >"$DIR/rc/config/config.inc.php" <<P
<?php
\$config['db_dsnw'] = 'mysql://rc:secret@127.0.0.1:$PORT/rc';
\$config['imap_host'] = '127.0.0.1:$imap';
\$config['smtp_host'] = '127.0.0.1:1';
\$config['des_key'] = 'abcdefghijklmnopqrstuvwx';
\$config['imap_cache'] = 'db';
\$config['messages_cache'] = 'db';
\$config['log_dir'] = '$DIR/logs';
\$config['temp_dir'] = '$DIR/temp';
\$config['session_storage'] = 'db';
\$config['ip_check'] = false;
\$config['enable_installer'] = false;
\$config['collected_recipients'] = true;
\$config['plugins'] = [];
\$config['log_driver'] = 'file';
\$config['sql_debug'] = false;
P
sql -e "CREATE DATABASE rc; CREATE USER rc@'%' IDENTIFIED BY 'secret'; GRANT ALL ON rc.* TO rc@'%'"
cd "$DIR/rc" || exit
export ROUNDCUBE_CONFIG_DIR="$DIR/rc/config"
sql rc <SQL/mysql.initial.sql
sql rc -e "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'rc' ORDER BY 1, ORDINAL_POSITION" | sed "s/'//g"
sql rc -e "SELECT name, value FROM \`system\`; UPDATE \`system\` SET value = '2020122900'; DROP TABLE responses"
php bin/updatedb.sh --package=roundcube --dir=SQL 2>&1
sql rc -e "SELECT name, value FROM \`system\`"

php -d memory_limit=512M -d display_errors=0 -S "127.0.0.1:$WEB" -t "$DIR/rc" >"$DIR/web.log" 2>&1 &
trap "kill $! $dovecot 2>/dev/null; wait; rm -rf '$mail'" EXIT
await_web
page() { web -o "$DIR/page" -w "$1 %{http_code}\n" "${@:2}"; faults "$DIR/page"; }
token() { token=$(grep -o '"request_token":"[^"]*"' "$DIR/page" | head -1 | sed 's/.*:"//; s/"//'); [ -n "$token" ] || echo "no token"; }
page "first page" "$URL/"
token
page "wrong password" "$URL/?_task=login" -d "_token=$token&_task=login&_action=login&_timezone=UTC&_user=ann&_pass=wrong"
page "first page" "$URL/"
token
page login -L "$URL/?_task=login" -d "_token=$token&_task=login&_action=login&_timezone=UTC&_user=ann&_pass=secret"
token
call() { # action, then parameters
    web -o "$DIR/answer" -w "$1 %{http_code}\n" -H "X-Roundcube-Request: $token" -H 'X-Requested-With: XMLHttpRequest' "$URL/?_remote=1&$1" "${@:2}"
    faults "$DIR/answer"
}
shown() { grep -o "$1" "$DIR/answer" | sed 's/[0-9a-f]\{32\}/HASH/g; s/[0-9]\{10,\}/TIME/g' | sort; }
# Mails come by drafts, which need no SMTP server.
for i in 1 2 3 4 5 6; do
    page "compose" -L "$URL/?_task=mail&_action=compose"
    id=$(grep -o '"compose_id":"[^"]*"' "$DIR/page" | sed 's/.*:"//; s/"//')
    page "draft $i" "$URL/?_task=mail&_action=send" -d "_token=$token&_task=mail&_action=send&_id=$id&_draft=1&_from=1&_framed=1" --data-urlencode "_to=Böb $i <bob$i@example.com>" --data-urlencode "_subject=Subject $i äöü 😀" --data-urlencode "_message=hello $i wörld"
done
sql rc -e "SELECT COUNT(*), MIN(username), MIN(mail_host) FROM users; SELECT user_id, del, standard, name, email FROM identities ORDER BY identity_id"
call "_task=mail&_action=list&_mbox=Drafts&_refresh=1"
shown 'Subject [0-9]'
call "_task=mail&_action=list&_mbox=Drafts&_sort=subject_ASC&_page=1"
shown 'Subject [0-9]'
for u in 1 2; do page "message $u" "$URL/?_task=mail&_action=show&_mbox=Drafts&_uid=$u"; grep -o 'hello [0-9] w[^<]*' "$DIR/page"; done
call "_task=mail&_action=mark" -d "_token=$token&_uid=1,2&_flag=flagged&_mbox=Drafts"
call "_task=mail&_action=search&_q=Subject+3&_headers=subject&_mbox=Drafts&_scope=base"
shown 'Subject [0-9]'
call "_task=mail&_action=search&_q=hello&_headers=text&_mbox=Drafts&_scope=all"
shown 'set_rowcount([^)]*)'
for f in Täst Sub; do page "folder $f" "$URL/?_task=settings&_action=save-folder" -d "_token=$token&_framed=1&_mbox=&_parent=" --data-urlencode "_name=$f"; done
call "_task=mail&_action=copy" -d "_token=$token&_uid=1,2,3&_mbox=Drafts&_target_mbox=Sub"
call "_task=mail&_action=move" -d "_token=$token&_uid=4&_mbox=Drafts&_target_mbox=Sub"
call "_task=mail&_action=delete" -d "_token=$token&_uid=5&_mbox=Drafts"
call "_task=mail&_action=list&_mbox=Sub"
shown 'Subject [0-9]'
call "_task=mail&_action=getunread"
call "_task=mail&_action=check-recent" -d "_token=$token&_mbox=INBOX"
call "_task=mail&_action=refresh" -d "_token=$token&_mbox=Drafts"
sql rc -e "SELECT COUNT(*) > 0 FROM cache; SELECT mailbox, COUNT(*) FROM cache_messages GROUP BY mailbox ORDER BY mailbox; SELECT mailbox, valid FROM cache_index ORDER BY mailbox; SELECT COUNT(*) FROM cache_thread; SELECT COUNT(*) FROM session"

for i in 1 2 3 4; do
    page "contact $i" "$URL/?_task=addressbook&_action=save&_framed=1" -d "_token=$token&_source=0" --data-urlencode "_firstname=Ännа$i" --data-urlencode "_surname=O'Neil $i" --data-urlencode "_name=Ännа$i O'Neil" -d "_email[]=c$i@example.com&_subtype_email[]=home&_phone[]=00$i&_subtype_phone[]=home"
done
call "_task=addressbook&_action=list&_source=0"
shown "nna[0-9] O'Neil"
call "_task=addressbook&_action=search&_q=c2@example.com&_headers=name,email&_source=0"
shown 'c[0-9]@example.com'
call "_task=addressbook&_action=search&_q=neil+3&_headers=*&_source=0"
shown 'c[0-9]@example.com'
call "_task=addressbook&_action=group-create" -d "_token=$token&_source=0&_name=Friends"
call "_task=addressbook&_action=group-create" -d "_token=$token&_source=0&_name=friends"
call "_task=addressbook&_action=group-addmembers" -d "_token=$token&_source=0&_gid=1&_cid=1,2"
call "_task=addressbook&_action=group-rename" -d "_token=$token&_source=0&_gid=1" --data-urlencode "_name=Fr😀ends"
call "_task=addressbook&_action=list&_source=0&_gid=1"
shown 'c[0-9]@example.com'
call "_task=addressbook&_action=group-delmembers" -d "_token=$token&_source=0&_gid=1&_cid=1"
call "_task=mail&_action=autocomplete" -d "_token=$token&_search=c&_reqid=1"
shown 'c[0-9]@example.com'
page "contact" "$URL/?_task=addressbook&_action=show&_source=0&_cid=2&_framed=1"
page "change contact" "$URL/?_task=addressbook&_action=save&_framed=1" -d "_token=$token&_source=0&_cid=2&_name=changed&_email[]=changed@example.com&_subtype_email[]=work"
call "_task=addressbook&_action=delete" -d "_token=$token&_source=0&_cid=3"
call "_task=addressbook&_action=export&_source=0"
page "export" "$URL/?_task=addressbook&_action=export&_source=0&_token=$token" -L
grep -a -c VCARD "$DIR/page"
page "identity" "$URL/?_task=settings&_action=save-identity&_framed=1" -d "_token=$token&_name=Second&_email=second@example.com&_signature=sig&_standard=1"
page "response" "$URL/?_task=settings&_action=save-response&_framed=1" -d "_token=$token&_name=Thanks&_text=thank+you"
page "preferences" "$URL/?_task=settings&_action=save-prefs&_framed=1" -d "_token=$token&_section=general&_language=en_US&_timezone=UTC&_time_format=H:i&_date_format=Y-m-d"
for p in "_task=settings&_action=preferences" "_task=settings&_action=identities" "_task=settings&_action=edit-identity&_iid=2&_framed=1" "_task=settings&_action=responses" "_task=settings&_action=folders" "_task=settings&_action=about" "_task=addressbook" "_task=mail"; do
    page "$p" "$URL/?$p"
done
page logout -L "$URL/?_task=logout&_token=$token"
sql rc -e "SELECT contact_id, del, name, email, firstname, surname, LEFT(words, 40) FROM contacts ORDER BY contact_id; SELECT contactgroup_id, del, name FROM contactgroups ORDER BY 1; SELECT contactgroup_id, contact_id FROM contactgroupmembers ORDER BY 1, 2; SELECT name, data FROM responses; SELECT user_id, del, standard, name, email FROM identities ORDER BY identity_id; SELECT type, name, email FROM collected_addresses ORDER BY 1, 2; SELECT username, language, preferences LIKE '%timezone%' FROM users; SELECT COUNT(*) FROM session"
php bin/indexcontacts.sh 2>&1
php bin/cleandb.sh 2>&1
php bin/gc.sh 2>&1
php bin/moduserprefs.sh --user=ann skin elastic 2>&1
echo y | php bin/deluser.sh --host=127.0.0.1 ann 2>&1
for t in $(sql rc -N -e "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'rc' ORDER BY 1"); do echo "$t $(sql rc -N -e "SELECT COUNT(*) FROM \`$t\`")"; done
cat "$DIR"/logs/errors* 2>/dev/null | grep -a -o 'DB Error[^(]*\|PHP [^(]*\|SQL[^(]*' | sort | uniq -c
