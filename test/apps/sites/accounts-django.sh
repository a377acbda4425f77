#!/bin/bash
# Django: an account that may use its database alone, and the test runner with one that
# makes and drops databases whose names begin with test_.
. "$(dirname "$0")/common.sh"
mkdir -p "$DIR/site/shop/migrations" && cd "$DIR/site" || exit
sql -e "CREATE DATABASE shop COLLATE utf8mb4_general_ci; CREATE USER web IDENTIFIED BY 'secret-1'; GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO web;
CREATE USER tester IDENTIFIED BY 'secret-2'"
cat >settings.py <<P
import os
DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'NAME': 'shop', 'USER': os.environ['DB_USER'], 'PASSWORD': os.environ['DB_PASSWORD'], 'HOST': '127.0.0.1', 'PORT': '$PORT',
    'TEST': {'CHARSET': 'utf8mb4', 'COLLATION': 'utf8mb4_general_ci'}}}
SECRET_KEY = 'x'
INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'shop']
DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
P
touch shop/__init__.py shop/migrations/__init__.py
cat >shop/models.py <<P
from django.db import models
class Order(models.Model):
    name = models.CharField(max_length=50, unique=True)
    total = models.DecimalField(max_digits=10, decimal_places=2)
class Item(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    text = models.TextField()
P
cat >shop/tests.py <<P
from django.db import IntegrityError, connection, transaction
from django.test import TestCase, TransactionTestCase
from django.contrib.auth.models import User
from .models import Item, Order
class OrderTests(TestCase):
    def test_cascade(self):
        o = Order.objects.create(name='a', total='1.50')
        Item.objects.create(order=o, text='x')
        o.delete()
        self.assertEqual(Item.objects.count(), 0)
    def test_user(self):
        self.assertTrue(User.objects.create_user('bob', password='secret').check_password('secret'))
class FlushTests(TransactionTestCase):
    def test_unique(self):
        Order.objects.create(name='a', total=1)
        with self.assertRaises(IntegrityError), transaction.atomic():
            Order.objects.create(name='a', total=2)
    def test_database(self):
        self.assertIn('test_shop', connection.settings_dict['NAME'])
P
manage() {
    DB_USER=$1 DB_PASSWORD=$2 DJANGO_SETTINGS_MODULE=settings PYTHONPATH=. /usr/bin/python3 -W ignore -m django "${@:3}" >"$DIR/out" 2>&1
    echo "$1 ${*:3} ends with $?"
    grep -a "^OK\|^Ran\|^FAILED\|OperationalError: \|Got an error\|^Creating test\|^Cloning\|^Destroying\|^  Applying\|^ok" "$DIR/out" | sed 's/ in [0-9.]*s//;s/table `\w*`\.`\(\w*\)`/table '"'\1'"'/' | sort -u
}
manage tester secret-2 makemigrations shop
manage web secret-1 migrate
sql -e "GRANT CREATE, ALTER, INDEX, REFERENCES ON shop.* TO web"
manage web secret-1 migrate
sql -e "REVOKE CREATE, ALTER, INDEX, REFERENCES ON shop.* FROM web"
manage web secret-1 migrate
manage web secret-1 inspectdb
manage web secret-1 shell -c "from shop.models import *; Order.objects.create(name='x', total=1); assert Order.objects.filter(total__gt=0).update(total=2) == 1; print('ok', Order.objects.get().total)"
manage web secret-1 flush --noinput
sql -e "GRANT DROP ON shop.* TO web"
manage web secret-1 flush --noinput
manage web secret-1 test --noinput
manage tester secret-2 test --noinput
sql -e 'GRANT ALL ON `test\_shop`.* TO tester'
manage tester secret-2 test --noinput
manage tester secret-2 test --noinput --keepdb
manage tester secret-2 test --noinput --parallel 2
sql -e 'REVOKE ALL ON `test\_shop`.* FROM tester; GRANT ALL ON `test\_%`.* TO tester'
manage tester secret-2 test --noinput --parallel 2
sql -e "SHOW DATABASES LIKE '%shop%'; SELECT COUNT(*) FROM shop.shop_order"
