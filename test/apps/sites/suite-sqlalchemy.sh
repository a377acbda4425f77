#!/bin/bash
# SQLAlchemy's suite for dialects.
. "$(dirname "$0")/common.sh"
need /usr/lib/python3/dist-packages/sqlalchemy
mkdir -p "$DIR/sa/test" && cd "$DIR/sa" || exit
cat >conftest.py <<P
import pytest
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")
from sqlalchemy.testing.plugin.pytestplugin import *
P
cat >setup.cfg <<P
[tool:pytest]
addopts=--tb=no -rA -q -p no:logging -p no:xdist -p no:warnings -p no:cacheprovider
python_files=test/*test_*.py
[sqla_testing]
requirement_cls=sqlalchemy.testing.requirements:SuiteRequirements
profile_file=test/profiles.txt
P
echo 'from sqlalchemy.testing.suite import *' >test/test_suite.py
sql -e "CREATE DATABASE sat; CREATE DATABASE test_schema"
/usr/bin/python3 -m pytest test/test_suite.py --dburi "mysql+pymysql://root@127.0.0.1:$PORT/sat?charset=utf8mb4" 2>/dev/null | sed -n 's/^PASSED .*::\(.*\)_m[a-z]*+pymysql[0-9_]*::\(.*\)/passes \1.\2/p' | sort
