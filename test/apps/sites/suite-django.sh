#!/bin/bash
# Django's tests of models, queries, schemas and transactions.
. "$(dirname "$0")/common.sh"
version=3.2.25
if [ ! -d "$CACHE/Django-$version" ]; then
    curl -sf "http://deb.debian.org/debian/pool/main/p/python-django/python-django_$version.orig.tar.gz" | tar -xz -C "$CACHE"
fi
need "$CACHE/Django-$version/tests"
cp -r "$CACHE/Django-$version/tests" "$DIR/tests" && cd "$DIR/tests" || exit
sql -e "CREATE DATABASE dj1; CREATE DATABASE dj2"
cat >sqlots_settings.py <<P
def db(name):
    return {'ENGINE': 'django.db.backends.mysql', 'NAME': name, 'USER': 'root', 'PASSWORD': '', 'HOST': '127.0.0.1', 'PORT': '$PORT',
            'OPTIONS': {'init_command': "SET sql_mode='STRICT_TRANS_TABLES'"}, 'TEST': {'CHARSET': 'utf8mb4', 'COLLATION': 'utf8mb4_general_ci'}}
DATABASES = {'default': db('dj1'), 'other': db('dj2')}
SECRET_KEY = 'x'
PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
USE_TZ = False
P
PYTHONPATH=. /usr/bin/python3 -W ignore runtests.py --settings=sqlots_settings --parallel=1 --noinput -v2 backends basic schema migrations model_fields queries aggregation \
    aggregation_regress annotations expressions expressions_case expressions_window lookup ordering transactions select_for_update introspection inspectdb bulk_create update delete \
    db_functions datetimes dates timezones distinct_on_fields foreign_object many_to_many many_to_one m2m_through m2m_regress one_to_one prefetch_related select_related get_or_create \
    indexes constraints transaction_hooks raw_query extra_regress from_db_value custom_pk custom_columns defer fixtures generic_relations model_inheritance validation \
    nested_foreign_keys null_queries known_related_objects filtered_relation db_utils custom_lookups 2>&1 | sed -n 's/^\(test_[^ ]*\) (\([^)]*\)).*ok$/passes \2/p' | sort
