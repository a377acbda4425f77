#!/bin/bash
# MediaWiki: installer, update, edits, jobs, search, dump and import, maintenance, pages, API.
. "$(dirname "$0")/common.sh"
need /usr/share/mediawiki
cp -rL /usr/share/mediawiki "$DIR/mw" 2>/dev/null
cd "$DIR/mw" || exit
rm -f LocalSettings.php
mkdir -p images cache
php maintenance/install.php --dbtype mysql --dbserver "127.0.0.1:$PORT" --dbname mw --dbuser root --dbpass "" --server "$URL" --scriptpath "" --pass 'Secret123!xyz' --lang en Wiki Admin 2>&1 | tail -4
cat >>LocalSettings.php <<P
\$wgMainCacheType = CACHE_DB; \$wgJobRunRate = 0; \$wgShowExceptionDetails = true; \$wgEnableUploads = true; \$wgDBerrorLog = '$DIR/dberr';
P
tool() { php "maintenance/$@" 2>&1; }
for i in 1 2 3; do
    echo "== Page $i == text äöü 😀 hello [[Page $((i + 1))]] [[Category:C]]" | tool edit.php --user Admin --summary "s$i" "Page $i" | tail -1
done
echo "changed hello world" | tool edit.php --user Admin "Page 1" | tail -1
tool update.php --quick | grep -a -i "error\|fail\|exception"
tool runJobs.php | grep -a -i "error\|fail"
tool rebuildall.php | tail -1
tool initSiteStats.php --update | tail -7
tool dumpBackup.php --full --quiet >"$DIR/dump.xml"
grep -c "<revision>" "$DIR/dump.xml"
tool importDump.php <"$DIR/dump.xml" | tail -1
tool showSiteStats.php | tail -8
tool namespaceDupes.php | tail -1
tool cleanupTitles.php | sed 's/^[0-9: -]*//' | tail -1
echo "Page 3" >"$DIR/titles"
tool deleteBatch.php "$DIR/titles" | tail -1
tool purgeOldText.php --purge | tail -1
tool createAndPromote.php U2 'Secret123!abc' | tail -1
serve "$DIR/mw"
for p in Main_Page Page_1 Special:RecentChanges "Special:Search&search=hello&fulltext=1" Special:AllPages Special:Statistics Special:Contributions/Admin "Page_1&action=history" Category:C \
    Special:WhatLinksHere/Page_2 Special:Log Special:ListUsers Special:Version Special:LonelyPages Special:WantedPages Special:MostLinked Special:NewPages Special:ListFiles Special:Categories \
    "Special:LinkSearch&target=*.org" "Special:PrefixIndex&prefix=Pa" Special:ProtectedPages Special:BlockList Special:ActiveUsers Special:DoubleRedirects; do
    web "$URL/index.php?title=$p" -o "$DIR/page" -w "$p %{http_code}\n"
    faults "$DIR/page"
done
for q in "list=search&srsearch=hello&srprop=" "prop=revisions&titles=Page_1&rvprop=content&rvlimit=2" "list=categorymembers&cmtitle=Category:C&cmprop=title" "list=allpages&aplimit=20" \
    "meta=siteinfo&siprop=statistics" "list=backlinks&bltitle=Page_2" "list=usercontribs&ucuser=Admin&ucprop=title&ucdir=newer&ucnamespace=0&uclimit=max" "list=allusers"; do
    # The number of jobs is up to 30 s old.
    echo "$q: $(web "$URL/api.php?action=query&$q&format=json" | sed 's/"jobs":[0-9]*/"jobs":N/')"
done
[ ! -f "$DIR/dberr" ] || grep -a -o "Error [0-9]*: [^(]*" "$DIR/dberr" | sort -u
