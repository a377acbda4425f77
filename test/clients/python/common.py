"""What the tests of all Python clients share: the server's address and a small runner."""
import os
import sys
import traceback

HOST = os.environ.get("DB_HOST", "127.0.0.1")
PORT = int(os.environ.get("DB_PORT", "4000"))
USER = os.environ.get("DB_USER", "root")
PASSWORD = os.environ.get("DB_PASSWORD", "")
DATABASE = os.environ.get("DB_NAME", "test")

_tests = []


def test(f):
    _tests.append(f)
    return f


def short(v):
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(short(x) for x in v) + "]"
    text = repr(v)
    return text if len(text) < 200 else text[:200] + "…"


def equal(got, want):
    if got != want:
        raise AssertionError("got %s, want %s" % (short(got), short(want)))


def raises(number, f, *args, **kw):
    """f fails with the error number."""
    try:
        f(*args, **kw)
    except Exception as e:
        code = getattr(e, "orig", e).args[0]
        if code != number:
            raise AssertionError("got error %r, want %s" % (e, number)) from e
        return
    raise AssertionError("no error, want %s" % number)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def run(*args):
    failed = 0
    for f in _tests:
        try:
            f(*args)
        except Exception:
            failed += 1
            print("FAIL " + f.__name__)
            traceback.print_exc(limit=4, file=sys.stdout)
    print("%d of %d passed" % (len(_tests) - failed, len(_tests)))
    sys.exit(1 if failed else 0)
