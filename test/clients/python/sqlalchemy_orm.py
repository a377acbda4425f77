"""SQLAlchemy: Core, ORM and reflection, over PyMySQL or mysqlclient (DRIVER=mysqldb)."""
import datetime as dt
import decimal
import enum
import os

os.environ["SQLALCHEMY_SILENCE_UBER_WARNING"] = "1"

from common import DATABASE, HOST, PASSWORD, PORT, USER, equal, raises, run, skip, test

try:
    import sqlalchemy as sa
    from sqlalchemy.dialects import mysql
    from sqlalchemy.dialects.mysql import insert as mysql_insert
    from sqlalchemy.orm import Session, aliased, declarative_base, joinedload, relationship, selectinload, subqueryload
except ImportError as e:
    skip(str(e))

Base = declarative_base()


class Color(enum.Enum):
    red = 1
    green = 2


membership = sa.Table(
    "membership", Base.metadata,
    sa.Column("user_id", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("team_id", sa.ForeignKey("teams.id"), primary_key=True),
)


class User(Base):
    __tablename__ = "users"
    __table_args__ = (
        sa.Index("by_name", "name", "age"),
        sa.Index("by_bio", "bio", mysql_length={"bio": 30}),
        sa.UniqueConstraint("email", name="one_email"),
        sa.CheckConstraint("age < 200", name="not_too_old"),
        {"comment": "people's table", "mysql_engine": "InnoDB", "mysql_charset": "utf8mb4"},
    )
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(60), nullable=False, comment="it's a name")
    email = sa.Column(sa.String(100))
    age = sa.Column(sa.Integer, server_default="18")
    bio = sa.Column(sa.Text)
    color = sa.Column(sa.Enum(Color))
    balance = sa.Column(sa.Numeric(14, 4))
    ratio = sa.Column(sa.Float)
    active = sa.Column(sa.Boolean, default=True)
    born = sa.Column(sa.Date)
    seen = sa.Column(mysql.DATETIME(fsp=6))
    clock = sa.Column(sa.Time)
    data = sa.Column(sa.JSON)
    photo = sa.Column(sa.LargeBinary)
    span = sa.Column(sa.Interval)
    big = sa.Column(mysql.BIGINT(unsigned=True))
    created = sa.Column(sa.DateTime, server_default=sa.func.now())
    doubled = sa.Column(sa.Integer, sa.Computed("age * 2", persisted=True))
    boss_id = sa.Column(sa.ForeignKey("users.id", name="fk_boss", ondelete="SET NULL"))
    kind = sa.Column(sa.String(20))
    version = sa.Column(sa.Integer, nullable=False)
    posts = relationship("Post", back_populates="author", cascade="all, delete-orphan", order_by="Post.id")
    teams = relationship("Team", secondary=membership, back_populates="members")
    boss = relationship("User", remote_side=[id], backref="staff")
    __mapper_args__ = {"polymorphic_on": kind, "polymorphic_identity": "user", "version_id_col": version}


class Admin(User):
    __tablename__ = "admins"
    id = sa.Column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    level = sa.Column(sa.Integer)
    __mapper_args__ = {"polymorphic_identity": "admin"}


class Team(Base):
    __tablename__ = "teams"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(30), unique=True)
    members = relationship("User", secondary=membership, back_populates="teams")


class Post(Base):
    __tablename__ = "posts"
    id = sa.Column(sa.BigInteger, primary_key=True)
    title = sa.Column(sa.String(80))
    views = sa.Column(sa.Integer, default=0)
    user_id = sa.Column(sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False)
    author = relationship("User", back_populates="posts")


@test
def create_all(engine):
    with engine.begin() as c:
        c.exec_driver_sql("SET FOREIGN_KEY_CHECKS = 0")
        for name in sa.inspect(c).get_view_names():
            c.exec_driver_sql("DROP VIEW `%s`" % name)
        for name in sa.inspect(c).get_table_names():
            c.exec_driver_sql("DROP TABLE `%s`" % name)
        c.exec_driver_sql("SET FOREIGN_KEY_CHECKS = 1")
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)


@test
def round_trip(engine):
    seen = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
    with Session(engine) as s:
        u = User(name="ann žluť 🐎", email="ann@example.org", age=30, bio="x" * 10000, color=Color.green, balance=decimal.Decimal("1234567890.1234"), ratio=0.5,
                 born=dt.date(1990, 5, 17), seen=seen, clock=dt.time(12, 34, 56), data={"a": [1, None, {"b": "ü"}]}, photo=bytes(range(256)),
                 span=dt.timedelta(hours=3), big=2**64 - 1, posts=[Post(title="one"), Post(title="two")], teams=[Team(name="t1"), Team(name="t2")])
        s.add(u)
        s.add(Admin(name="root", level=3, boss=u))
        s.commit()
        s.expire_all()
        got = s.execute(sa.select(User).where(User.name.startswith("ann"))).scalar_one()
        equal([got.color, got.balance, got.ratio, got.born, got.seen, got.clock, got.photo, got.span, got.big, got.active, got.doubled],
              [Color.green, decimal.Decimal("1234567890.1234"), 0.5, dt.date(1990, 5, 17), seen, dt.time(12, 34, 56), bytes(range(256)), dt.timedelta(hours=3), 2**64 - 1, True, 60])
        equal(got.data, {"a": [1, None, {"b": "ü"}]})
        equal(isinstance(got.created, dt.datetime), True)
        equal([p.title for p in got.posts], ["one", "two"])
        equal([type(x).__name__ for x in s.query(User).order_by(User.id)], ["User", "Admin"])
        equal(s.query(Admin).one().boss.name, got.name)
        got.age = 31
        s.commit()
        equal([got.doubled, got.version], [62, 2])


@test
def errors(engine):
    with Session(engine) as s:
        for row, number in [(User(name="b", email="ann@example.org"), 1062), (User(name="b", age=300), None), (User(name=None), 1048), (User(name="n" * 61), 1406), (Post(title="x", user_id=999), 1452)]:
            s.add(row)
            if number:
                raises(number, s.flush)
            else:
                try:
                    s.flush()
                    raise AssertionError("the check let it pass")
                except sa.exc.DBAPIError as e:
                    equal(e.orig.args[0] in (3819, 4025), True)
            s.rollback()
        for sql, number in [("SELECT nothing", 1054), ("SELECT * FROM nowhere", 1146), ("SELEC", 1064)]:
            raises(number, s.execute, sa.text(sql))
            s.rollback()


@test
def queries(engine):
    with Session(engine) as s:
        s.bulk_insert_mappings(User, [dict(name="u%d" % i, age=i % 40, balance=i, version=1, kind="user") for i in range(400)])
        s.bulk_save_objects([Post(title="p%d" % i, user_id=1, views=i) for i in range(50)])
        s.commit()
        n = lambda q: s.execute(sa.select(sa.func.count()).select_from(q.subquery())).scalar()
        equal(n(sa.select(User.id).where(User.name.in_(["u1", "u2", "zz"]))), 2)
        equal(n(sa.select(User.id).where(sa.tuple_(User.name, User.age).in_([("u1", 1), ("u2", 3)]))), 1)
        equal(n(sa.select(User.id).where(User.age.between(3, 4), sa.or_(User.name.like("u3_"), User.name.regexp_match("^u4[0-9]$")))), 2)
        equal(n(sa.select(User.id).where(User.data["a"][0].as_integer() == 1)), 1)
        equal(n(sa.select(User.id).where(User.posts.any(Post.title == "one"))), 1)
        equal(n(sa.select(Post.id).where(Post.author.has(User.name.contains("ann")))), 52)
        equal(n(sa.select(User.id).where(~User.teams.any())), 401)
        rows = s.execute(sa.select(User.age, sa.func.count(), sa.func.sum(User.balance), sa.func.group_concat(User.name.op("ORDER BY")(User.id)))
                         .where(User.name.like("u%")).group_by(User.age).having(sa.func.count() > 9).order_by(User.age.desc()).limit(2)).all()
        equal([(r[0], r[1], r[2]) for r in rows], [(39, 10, decimal.Decimal("2190.0000")), (38, 10, decimal.Decimal("2180.0000"))])
        equal(rows[0][3].split(",")[:2], ["u39", "u79"])
        w = s.execute(sa.select(User.name, sa.func.row_number().over(partition_by=User.age, order_by=User.balance.desc()).label("rn")).order_by("rn", User.name).limit(1)).first()
        equal(tuple(w), ("ann žluť 🐎", 1))
        cte = sa.select(sa.literal(1).label("n")).cte("seq", recursive=True)
        cte = cte.union_all(sa.select(cte.c.n + 1).where(cte.c.n < 5))
        equal(s.execute(sa.select(sa.func.sum(cte.c.n))).scalar(), 15)
        a, b = aliased(User), aliased(User)
        equal(s.execute(sa.select(sa.func.count()).select_from(a).outerjoin(b, b.boss_id == a.id).where(b.id.is_(None))).scalar(), 401)
        u = sa.union(sa.select(User.id).where(User.id < 3), sa.select(User.id).where(User.id.in_([1, 2]))).subquery()
        equal(s.execute(sa.select(sa.func.count()).select_from(u)).scalar(), 2)
        lateral = sa.select(Post.title).where(Post.user_id == User.id).order_by(Post.id.desc()).limit(1).lateral("l")
        if not engine.dialect.is_mariadb:
            equal(s.execute(sa.select(User.id, lateral.c.title).join(lateral, sa.true())).all(), [(1, "p49")])
        equal(s.execute(sa.select(sa.case((User.age > 30, "old"), else_="young").label("c"), sa.func.count()).group_by("c").order_by("c")).all(), [("old", 91), ("young", 311)])
        equal(s.execute(sa.select(sa.extract("year", User.seen), sa.cast(User.balance, sa.Integer), sa.func.char_length(User.bio)).where(User.id == 1)).first(), (2024, 1234567890, 10000))
        equal(s.scalar(sa.select(sa.exists().where(User.name == "u5"))), True)
        equal(s.query(User).filter(User.name == "u5").with_for_update(skip_locked=True).one().age, 5)
        equal(s.query(User).filter(User.name == "u5").with_for_update(read=True).one().age, 5)
        equal(len(s.query(User).order_by(User.id).offset(5).limit(10).all()), 10)
        for option in (joinedload(User.posts), selectinload(User.posts), subqueryload(User.posts)):
            s.expunge_all()
            x = s.query(User).options(option, selectinload(User.teams)).filter(User.id <= 3).order_by(User.id).limit(2).all()
            equal([len(i.posts) for i in x], [52, 0])
        equal(sum(1 for _ in s.execute(sa.select(User.id), execution_options={"stream_results": True, "yield_per": 50})), 402)


@test
def changes(engine):
    with Session(engine) as s:
        equal(s.execute(sa.update(User).where(User.age == 3).values(balance=User.balance + 1)).rowcount, 10)
        equal(s.execute(sa.delete(User).where(User.name.in_(["u398", "u399"])), execution_options={"synchronize_session": False}).rowcount, 2)
        s.execute(sa.insert(Team), [{"name": "x%d" % i} for i in range(100)])
        st = mysql_insert(Team).values([{"id": 1, "name": "upserted"}, {"id": 900, "name": "new"}])
        s.execute(st.on_duplicate_key_update(name=st.inserted.name))
        s.execute(mysql_insert(Team).values(id=1, name="zz").prefix_with("IGNORE"))
        equal(s.get(Team, 1).name, "upserted")
        s.execute(sa.insert(Team).from_select(["name"], sa.select(sa.func.concat("copy-", Team.name)).where(Team.id < 3)))
        equal(s.execute(sa.update(User).where(User.id == Post.user_id, Post.title == "one").values(age=77), execution_options={"synchronize_session": False}).rowcount, 1)
        s.commit()
        with s.begin_nested():
            s.add(Team(name="kept"))
        try:
            with s.begin_nested():
                s.add(Team(name="kept"))
        except sa.exc.IntegrityError:
            pass
        s.commit()
        equal(s.query(Team).filter_by(name="kept").count(), 1)
        s.add(Team(name="never"))
        s.flush()
        s.rollback()
        equal(s.query(Team).filter_by(name="never").count(), 0)
        ann = s.get(User, 1)
        ann.teams.pop()
        ann.posts.pop(0)
        s.commit()
        equal([len(ann.teams), len(ann.posts)], [1, 51])
        s.delete(ann)
        s.commit()
        equal(s.query(Post).count(), 0)
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as c:
        equal(c.get_isolation_level(), "READ COMMITTED")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.execute(sa.text("INSERT INTO teams (name) VALUES (:n)"), {"n": "auto"})
    with engine.connect() as c:
        equal(c.execute(sa.text("SELECT COUNT(*) FROM teams WHERE name = 'auto'")).scalar(), 1)


@test
def reflection(engine):
    with engine.begin() as c:
        c.exec_driver_sql("CREATE VIEW grown AS SELECT id, name FROM users WHERE age >= 18")
        c.exec_driver_sql("""CREATE TABLE every (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT, e DECIMAL(10,3) UNSIGNED, f FLOAT, g DOUBLE, h BIT(5), i CHAR(4), j VARCHAR(30) CHARACTER SET latin1,
          k TINYTEXT, l MEDIUMTEXT, m LONGTEXT, n BINARY(3), o VARBINARY(9), p TINYBLOB, q LONGBLOB, r DATE, s DATETIME(3), t TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, u TIME(2), v YEAR,
          w ENUM('x','it''s','a,b'), x SET('p','q'), y JSON, z BOOLEAN NOT NULL DEFAULT TRUE, g1 INT AS (a + 1) VIRTUAL, UNIQUE KEY uq (b, c), KEY pre (j(5), l(7) DESC))""")
    i = sa.inspect(engine)
    equal(i.default_schema_name, DATABASE)
    equal(DATABASE in i.get_schema_names(), True)
    equal(i.get_table_names(), ["admins", "every", "membership", "posts", "teams", "users"])
    equal(i.get_view_names(), ["grown"])
    equal("`age` >= 18" in i.get_view_definition("grown"), True)
    equal([c["name"] for c in i.get_columns("grown")], ["id", "name"])
    equal(i.get_pk_constraint("membership")["constrained_columns"], ["user_id", "team_id"])
    fks = sorted(i.get_foreign_keys("membership"), key=lambda f: f["constrained_columns"])
    equal([(f["constrained_columns"], f["referred_table"], f["referred_columns"], f["options"].get("ondelete")) for f in fks], [(["team_id"], "teams", ["id"], None), (["user_id"], "users", ["id"], "CASCADE")])
    equal([(f["name"], f["options"]) for f in i.get_foreign_keys("users")], [("fk_boss", {"ondelete": "SET NULL"})])
    ix = {x["name"]: x for x in i.get_indexes("users")}
    equal(sorted(ix), ["by_bio", "by_name", "fk_boss", "one_email"])
    equal([ix["by_name"]["column_names"], ix["one_email"]["unique"]], [["name", "age"], True])
    equal(i.get_unique_constraints("users")[0]["name"], "one_email")
    equal([c["name"] for c in i.get_check_constraints("users")], ["not_too_old"])
    equal(i.get_table_comment("users"), {"text": "people's table"})
    equal(i.get_table_options("users")["mysql_engine"], "InnoDB")
    cols = {c["name"]: c for c in i.get_columns("users")}
    equal([cols["name"]["comment"], cols["name"]["nullable"], str(cols["age"]["default"]), cols["id"]["autoincrement"], cols["doubled"]["computed"]["persisted"]], ["it's a name", False, cols["age"]["default"], True, True])
    every = {c["name"]: c["type"] for c in i.get_columns("every")}
    equal(every["w"].enums, ["x", "it's", "a,b"])
    equal(every["x"].values, ("p", "q"))
    equal([type(every[k]).__name__ for k in "abcdefghi"], ["TINYINT", "SMALLINT", "MEDIUMINT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "BIT", "CHAR"])
    equal([every["b"].unsigned, every["e"].scale, every["h"].length, every["j"].charset if every["j"].charset else "latin1", every["s"].fsp, every["u"].fsp], [True, 3, 5, "latin1", 3, 2])
    equal(type(every["y"]).__name__ in ("JSON", "LONGTEXT"), True)
    # A schema that was reflected makes the same schema again.
    meta = sa.MetaData()
    meta.reflect(engine, views=True)
    equal(sorted(meta.tables), ["admins", "every", "grown", "membership", "posts", "teams", "users"])
    equal([f.column.table.name for f in meta.tables["posts"].foreign_keys], ["users"])
    ddl = str(sa.schema.CreateTable(meta.tables["every"]).compile(engine))
    with engine.begin() as c:
        c.exec_driver_sql("DROP VIEW grown")
        c.exec_driver_sql("DROP TABLE every")
        c.exec_driver_sql(ddl.replace("%", "%%"))
    equal([x["name"] for x in sa.inspect(engine).get_indexes("every")], [])
    from sqlalchemy.ext.automap import automap_base
    auto = automap_base()
    auto.prepare(autoload_with=engine)
    equal(sorted(auto.classes.keys()), ["admins", "posts", "teams", "users"])


def main():
    driver = os.environ.get("DRIVER", "pymysql")
    try:
        __import__("MySQLdb" if driver == "mysqldb" else driver)
    except ImportError as e:
        skip(str(e))
    url = sa.engine.URL.create("mysql+" + driver, USER, PASSWORD or None, HOST, PORT, DATABASE, {"charset": "utf8mb4"})
    run(sa.create_engine(url, echo=bool(os.environ.get("SQL_LOG"))))


main()
