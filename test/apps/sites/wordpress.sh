#!/bin/bash
# WordPress: installer, administration, posts, comments, terms, search, export.
. "$(dirname "$0")/common.sh"
need /usr/share/wordpress
cp -rL /usr/share/wordpress "$DIR/wp" 2>/dev/null
sql -e "CREATE DATABASE wp; CREATE USER wp@'%' IDENTIFIED BY 'secret'; GRANT ALL ON wp.* TO wp@'%'"
cat >"$DIR/wp/wp-config.php" <<P
<?php
define('DB_NAME', 'wp'); define('DB_USER', 'wp'); define('DB_PASSWORD', 'secret'); define('DB_HOST', '127.0.0.1:$PORT');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as \$k) define(\$k, \$k);
\$table_prefix = 'wp_'; define('WP_DEBUG', true); define('WP_DEBUG_LOG', '$DIR/debug'); define('WP_DEBUG_DISPLAY', false);
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true);
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
P
serve "$DIR/wp"
web -d "weblog_title=Test&user_name=admin&admin_password=Secret123!x&admin_password2=Secret123!x&pw_weak=on&admin_email=a@example.com&blog_public=0" \
    "$URL/wp-admin/install.php?step=2" | grep -o "<h1>[^<]*</h1>"
web --cookie "wordpress_test_cookie=WP+Cookie+check" -d "log=admin&pwd=Secret123!x&wp-submit=Log+In&testcookie=1" "$URL/wp-login.php" -o "$DIR/page" -w "login %{http_code}\n"
nonce=$(web "$URL/wp-admin/admin-ajax.php?action=rest-nonce")
rest() { web -H "X-WP-Nonce: $nonce" -H 'Content-Type: application/json' "${@:2}" "$URL/?rest_route=/wp/v2/$1"; }
for i in 1 2 3 4 5; do
    rest posts -d "{\"title\":\"Post $i äöü 😀\",\"content\":\"content hello $i\",\"status\":\"publish\",\"categories\":[1],\"date\":\"2024-01-0${i}T10:00:00\"}" | grep -o '"raw":"Post[^"]*"'
done
id=$(rest "posts&search=hello&per_page=1" | grep -o '^\[{"id":[0-9]*' | grep -o '[0-9]*')
rest comments -d "{\"post\":$id,\"content\":\"a comment\"}" -o "$DIR/page" -w "comment %{http_code}\n"
rest categories -d '{"name":"cat2","slug":"c2"}' -o "$DIR/page" -w "category %{http_code}\n"
rest tags -d '{"name":"täg"}' -o "$DIR/page" -w "tag %{http_code}\n"
rest users -d '{"username":"two","email":"two@example.com","password":"Secret123!x"}' -o "$DIR/page" -w "user %{http_code}\n"
rest "posts/$id" -d '{"title":"changed","tags":[3]}' -o "$DIR/page" -w "change %{http_code}\n"
rest "posts/$id&force=true" -X DELETE -o "$DIR/page" -w "delete %{http_code}\n"
for q in "search=hello&orderby=date" "search=hello&orderby=relevance&order=desc" "categories=1&orderby=title" "after=2024-01-02T00:00:00&before=2024-01-04T23:00:00" "exclude=1&offset=1&per_page=2" "slug=hello-world" "author=1&orderby=modified&order=asc&per_page=1"; do
    echo "$q: $(rest "posts&$q&_fields=title" | grep -o '"rendered":"[^"]*"' | tr '\n' ' ')"
done
for p in / /wp-admin/ /wp-admin/edit.php /wp-admin/post-new.php /wp-admin/upload.php /wp-admin/edit-comments.php /wp-admin/users.php /wp-admin/options-general.php \
    "/wp-admin/edit-tags.php?taxonomy=category" /wp-admin/themes.php /wp-admin/plugins.php /wp-admin/site-health.php "/?s=hello" "/?p=1" "/wp-admin/edit.php?s=hello&post_status=all" \
    "/wp-admin/edit.php?orderby=comment_count&order=desc" "/wp-admin/users.php?orderby=email" "/?feed=rss2" "/?m=202401" "/?cat=1" "/?author=1" "/wp-admin/export.php?download=true&content=all"; do
    web "$URL$p" -o "$DIR/page" -w "$p %{http_code}\n"
    faults "$DIR/page"
done
grep -a -c "<item>" "$DIR/page"
grep -a "WordPress database error" "$DIR/debug" | sed 's/^\[[^]]*\] //' | sort -u
