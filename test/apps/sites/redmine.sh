#!/bin/bash
# Redmine: migrations and default data, projects, issues, journals, wiki, time, news,
# relations, versions and queries over REST, pages, search, reports, CSV, deletion.
. "$(dirname "$0")/common.sh"
need /usr/share/redmine
need_command puma
cp -rL /usr/share/redmine "$DIR/redmine" 2>/dev/null
cd "$DIR/redmine" || exit
rm -rf instances
mkdir -p instances/default/{config,files,log,tmp}
cat >instances/default/config/database.yml <<P
production:
  adapter: mysql2
  database: redmine
  host: 127.0.0.1
  port: $PORT
  username: root
  encoding: utf8mb4
P
sql -e "CREATE DATABASE redmine"
export RAILS_ENV=production SECRET_KEY_BASE=abcdef0123456789abcdef0123456789 REDMINE_LANG=en
rake db:migrate 2>&1 | sed 's/ ([0-9.]*s)//; s/   -> [0-9.]*s/   -> /; /^$/d'
rake redmine:load_default_data 2>&1 | tail -1
rake db:migrate:status 2>&1 | grep -c '^ *up'
sql redmine -e "SELECT TABLE_NAME, COLUMN_NAME, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'redmine' ORDER BY 1, ORDINAL_POSITION"
sql redmine -e "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'redmine' ORDER BY 1, 2, 4"
cat >"$DIR/prepare.rb" <<'P'
Setting.rest_api_enabled = "1"
Setting.default_language = "en"
admin = User.find(1)
admin.must_change_passwd = false
admin.password = "Secret123!"
admin.save!
puts admin.api_key
P
key=$(bin/rails runner "$DIR/prepare.rb" 2>/dev/null | tail -1)
puma -q -b "tcp://127.0.0.1:$WEB" -t 2:4 config.ru >"$DIR/puma.log" 2>&1 &
trap "kill $! 2>/dev/null; wait" EXIT
await_web

# What depends on the time, on keys and on the size of the disk is plain.
plain() { sed 's/20[0-9][0-9]-[0-9-]*T[0-9:.]*Z/TIME/g; s/20[0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9:]*\( UTC\)\?/TIME/g; s#[0-9/]* [0-9:]* [AP]M#TIME#g; s/"api_key":"[^"]*"/KEY/; s/[0-9a-f]\{40\}/HASH/g; s/"token":"[^"]*"/TOKEN/'; }
rest() { echo "== $*" | plain; curl -s -m 120 -H "X-Redmine-API-Key: $key" -H 'Content-Type: application/json' -w ' %{http_code}\n' "${@:2}" "$URL/$1" | plain; }
day=2024-05
rest projects.json -d '{"project":{"name":"Prjékt 😀","identifier":"one","description":"the first","tracker_ids":[1,2,3],"enabled_module_names":["issue_tracking","time_tracking","news","wiki","boards","calendar","gantt","documents","files"]}}'
rest projects.json -d '{"project":{"name":"Child","identifier":"child","parent_id":1,"inherit_members":true,"is_public":false}}'
rest projects.json -d '{"project":{"name":"Again","identifier":"one"}}'
rest users.json -d '{"user":{"login":"ann","firstname":"Änn","lastname":"Smith","mail":"ann@example.com","password":"Secret123!"}}'
rest users.json -d '{"user":{"login":"ANN","firstname":"x","lastname":"y","mail":"ANN@example.com","password":"Secret123!"}}'
rest projects/one/memberships.json -d '{"membership":{"user_id":5,"role_ids":[3,4]}}'
rest groups.json -d '{"group":{"name":"Devs","user_ids":[5]}}'
rest projects/one/versions.json -d '{"version":{"name":"1.0","due_date":"'$day'-30","sharing":"descendants"}}'
rest projects/one/issue_categories.json -d '{"issue_category":{"name":"UI"}}'
for i in $(seq 8); do
    rest issues.json -d "{\"issue\":{\"project_id\":1,\"tracker_id\":$((i % 3 + 1)),\"priority_id\":$((i % 5 + 1)),\"subject\":\"Issue $i äöü 😀 hello\",\"description\":\"text of 100% _$i\",\"start_date\":\"$day-0$i\",\"due_date\":\"$day-1$i\",\"estimated_hours\":$i.25,\"fixed_version_id\":1}}"
done
rest issues.json -d '{"issue":{"project_id":1,"subject":"sub","parent_issue_id":1,"estimated_hours":2.5,"done_ratio":50}}'
rest issues.json -d '{"issue":{"project_id":1,"subject":"subsub","parent_issue_id":9,"estimated_hours":3}}'
rest issues.json -d '{"issue":{"project_id":2,"subject":"of the child","category_id":99}}'
rest issues.json -d '{"issue":{"project_id":1,"subject":""}}'
rest issues/2.json -X PUT -d '{"issue":{"status_id":2,"assigned_to_id":5,"notes":"a note äöü","done_ratio":30}}'
rest issues/2.json -X PUT -d '{"issue":{"status_id":5,"private_notes":true,"notes":"closed"}}'
rest issues/10.json -X PUT -d '{"issue":{"parent_issue_id":3}}'
rest issues/3/relations.json -d '{"relation":{"issue_to_id":4,"relation_type":"precedes","delay":2}}'
rest issues/4/relations.json -d '{"relation":{"issue_to_id":3,"relation_type":"precedes"}}'
rest issues/3/watchers.json -d '{"user_id":5}'
rest "issues/2.json?include=journals,watchers,relations,children"
rest "issues/3.json?include=children,relations,watchers"
rest time_entries.json -d '{"time_entry":{"issue_id":2,"hours":1.5,"activity_id":9,"spent_on":"'$day'-03","comments":"work"}}'
rest time_entries.json -d '{"time_entry":{"project_id":1,"hours":"2h30","activity_id":8,"spent_on":"'$day'-04"}}'
rest time_entries.json -d '{"time_entry":{"issue_id":3,"hours":0.33,"activity_id":9,"spent_on":"'$day'-05"}}'
rest projects/one/wiki/Start.json -X PUT -d '{"wiki_page":{"text":"h1. Start\n\nhello [[Other]] 😀","comments":"c1"}}'
rest projects/one/wiki/Start.json -X PUT -d '{"wiki_page":{"text":"h1. Start\n\nchanged hello","comments":"c2","version":1}}'
rest projects/one/wiki/Start.json -X PUT -d '{"wiki_page":{"text":"stale","version":1}}'
rest projects/one/wiki/Other.json -X PUT -d '{"wiki_page":{"text":"other","parent_title":"Start"}}'
rest projects/one/wiki/Start/1.json
rest projects/one/wiki/index.json
rest projects/one/news.json -d '{"news":{"title":"News hello","summary":"s","description":"d"}}'
curl -s -H "X-Redmine-API-Key: $key" -H 'Content-Type: application/octet-stream' --data-binary "a file" -w ' %{http_code}\n' "$URL/uploads.json?filename=a.txt" | plain
for q in "issues.json?sort=priority:desc,subject&limit=3&offset=1" "issues.json?status_id=*&sort=status:desc,id&limit=2" "issues.json?tracker_id=2&fixed_version_id=1" "issues.json?subject=~hello&sort=id:desc" "issues.json?assigned_to_id=me" \
    "issues.json?due_date=%3E%3C$day-12%7C$day-15" "issues.json?parent_id=1" "issues.json?status_id=closed" "issues.json?f%5B%5D=estimated_hours&op%5Bestimated_hours%5D=%3E%3D&v%5Bestimated_hours%5D%5B%5D=5&sort=estimated_hours" \
    "issues.json?f%5B%5D=watcher_id&op%5Bwatcher_id%5D=%3D&v%5Bwatcher_id%5D%5B%5D=5" "issues.json?set_filter=1&f%5B%5D=any_searchable&op%5Bany_searchable%5D=~&v%5Bany_searchable%5D%5B%5D=note" "time_entries.json?from=$day-03&to=$day-04&sort=hours" \
    "projects.json?include=trackers,enabled_modules" "users.json?name=ann" "projects/one/memberships.json" "search.json?q=hello&limit=20" "search.json?q=100%25" "search.json?q=a_b" "search.json?q=hello+changed&all_words=1&wiki_pages=1" \
    "enumerations/issue_priorities.json" "trackers.json" "roles/3.json" "projects/one/versions.json" "groups.json" "my/account.json" "issue_statuses.json" "queries.json"; do
    rest "$q"
done
token() { grep -o 'name="authenticity_token" value="[^"]*"' "$DIR/page" | head -1 | sed 's/.*value="//; s/"//'; }
web "$URL/login" -o "$DIR/page"
web "$URL/login" --data-urlencode "authenticity_token=$(token)" -d "username=admin&password=Secret123!" -o "$DIR/page" -w "login %{http_code}\n"
for p in / /my/page /projects /projects/one /projects/one/activity "/projects/one/activity?from=$day-10" /projects/one/issues "/projects/one/issues?set_filter=1&group_by=priority&t%5B%5D=estimated_hours&t%5B%5D=spent_hours&c%5B%5D=subject&c%5B%5D=total_estimated_hours&c%5B%5D=total_spent_hours&c%5B%5D=relations" \
    "/projects/one/issues?set_filter=1&group_by=status&sort=parent,done_ratio:desc" /issues/2 /issues/3 /projects/one/issues/report /projects/one/issues/report/priority /projects/one/roadmap /versions/1 "/projects/one/issues/calendar?year=2024&month=5" "/projects/one/issues/gantt?year=2024&month=5" \
    /projects/one/wiki /projects/one/wiki/Start/history "/projects/one/wiki/Start/diff?version=2&version_from=1" /projects/one/wiki/date_index /projects/one/news /projects/one/time_entries "/projects/one/time_entries/report?criteria%5B%5D=user&criteria%5B%5D=activity&columns=month&f%5B%5D=spent_on&op%5Bspent_on%5D=*" \
    /projects/one/boards /projects/one/settings /admin /admin/projects /users /groups /roles /roles/permissions /trackers /issue_statuses /workflows/edit /custom_fields /enumerations /settings /auth_sources /admin/info /search?q=hello /projects/one/search?q=hello /projects/one/issues.atom; do
    web "$URL$p" -o "$DIR/page" -w "$p %{http_code}\n"
    faults "$DIR/page"
done
web "$URL/projects/one/issues.csv?set_filter=1&c%5B%5D=all_inline&sort=id" | plain
web "$URL/projects/one/time_entries.csv?sort=id" | plain
rest issues/1.json -X DELETE
rest projects/1/memberships.json
rest users/5.json -X DELETE
rest versions/1.json -X DELETE
rest projects/child.json -X PUT -d '{"project":{"parent_id":""}}'
rest projects/one.json -X DELETE
for t in $(sql redmine -N -e "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'redmine' ORDER BY 1"); do echo "$t $(sql redmine -N -e "SELECT COUNT(*) FROM $t")"; done
grep -a -h "Mysql2::Error\|ActiveRecord::[A-Za-z]*Error\|StatementInvalid" instances/default/log/production.log log/production.log 2>/dev/null | sort | uniq -c
