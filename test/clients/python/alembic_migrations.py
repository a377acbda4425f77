"""Alembic: operations, and a comparison that finds nothing to change."""
import os

os.environ["SQLALCHEMY_SILENCE_UBER_WARNING"] = "1"

from common import DATABASE, HOST, PASSWORD, PORT, USER, equal, run, skip, test

try:
    import pymysql  # noqa: F401
    import sqlalchemy as sa
    from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from sqlalchemy.dialects import mysql
except ImportError as e:
    skip(str(e))


def tables(meta, more=False):
    sa.Table("owner", meta, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(40), nullable=False, unique=True))
    sa.Table("thing", meta, sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("title", sa.String(80 if more else 20), server_default="x", comment="what"),
             sa.Column("price", sa.Numeric(12, 3)), sa.Column("flag", sa.Boolean, nullable=False, server_default=sa.text("1")), sa.Column("doc", sa.JSON),
             sa.Column("made", mysql.DATETIME(fsp=6), server_default=sa.text("CURRENT_TIMESTAMP(6)")), sa.Column("kind", sa.Enum("a", "b", name="kind")),
             sa.Column("owner_id", sa.ForeignKey("owner.id", name="fk_owner", ondelete="CASCADE")), *([sa.Column("extra", mysql.INTEGER(unsigned=True), nullable=False, server_default="7")] if more else []),
             sa.Index("by_title", "title", "price"), sa.UniqueConstraint("title", "owner_id", name="once"))
    return meta


def context(c):
    return MigrationContext.configure(c, opts={"compare_type": True, "compare_server_default": True})


@test
def autogenerate(engine):
    with engine.begin() as c:
        for t in ("article", "thing", "owner", "alembic_version"):
            c.exec_driver_sql("DROP TABLE IF EXISTS " + t)
    first = tables(sa.MetaData())
    first.create_all(engine)
    with engine.connect() as c:
        equal(compare_metadata(context(c), first), [])
        second = tables(sa.MetaData(), more=True)
        diffs = compare_metadata(context(c), second)
        equal(sorted(str(d[0] if isinstance(d, tuple) else d[0][0]) for d in diffs), ["add_column", "modify_type"])
        code = render_python_code(produce_migrations(context(c), second).upgrade_ops)
        op = Operations(context(c))
        exec("\n".join(line.strip() for line in join(code)), {"op": op, "sa": sa, "mysql": mysql})
        equal(compare_metadata(context(c), second), [])


def join(code):
    """Statements that go over several lines as one line each."""
    out, depth = [], 0
    for line in code.splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        if depth:
            out[-1] += " " + line.strip()
        else:
            out.append(line)
        depth += line.count("(") - line.count(")")
    return out


@test
def operations(engine):
    with engine.begin() as c:
        op = Operations(context(c))
        op.add_column("thing", sa.Column("note", sa.Text))
        op.alter_column("thing", "note", new_column_name="remark", existing_type=sa.Text())
        op.alter_column("thing", "remark", type_=sa.String(100), nullable=False, server_default="none", existing_type=sa.Text())
        op.create_index("by_remark", "thing", ["remark"], mysql_length={"remark": 10})
        op.drop_constraint("fk_owner", "thing", type_="foreignkey")
        op.create_foreign_key("fk_again", "thing", "owner", ["owner_id"], ["id"], onupdate="CASCADE")
        op.create_check_constraint("cheap", "thing", "price < 1000")
        op.drop_index("by_title", "thing")
        op.create_unique_constraint("remark_once", "thing", ["remark", "id"])
        op.drop_constraint("once", "thing", type_="unique")
        op.bulk_insert(sa.table("owner", sa.column("name")), [{"name": "o%d" % i} for i in range(10)])
        op.execute("UPDATE owner SET name = CONCAT(name, '!') WHERE id = 3")
        op.rename_table("thing", "article")
        op.create_table_comment("article", "things, once")
        op.drop_column("article", "doc")
    i = sa.inspect(engine)
    equal([x["name"] for x in i.get_columns("article")], ["id", "title", "price", "flag", "made", "kind", "owner_id", "extra", "remark"])
    equal([f["name"] for f in i.get_foreign_keys("article")], ["fk_again"])
    equal(i.get_table_comment("article"), {"text": "things, once"})
    equal({"by_remark", "remark_once"} <= {x["name"] for x in i.get_indexes("article")}, True)
    equal([x["name"] for x in i.get_check_constraints("article")], ["cheap"])


run(sa.create_engine(sa.engine.URL.create("mysql+pymysql", USER, PASSWORD or None, HOST, PORT, DATABASE, {"charset": "utf8mb4"})))
