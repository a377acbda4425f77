// Package gorm tries sqlots as an application with GORM does. The address of
// the server comes from the environment variable DSN.
package gorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/datatypes"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

type Language struct {
	Code  string `gorm:"primaryKey;size:8"`
	Name  string
	Users []User `gorm:"many2many:user_languages;"`
}

type Company struct {
	ID   uint
	Name string `gorm:"size:100;uniqueIndex"`
}

type Account struct {
	gorm.Model
	UserID uint
	Number string `gorm:"size:40"`
}

type Toy struct {
	ID        uint
	Name      string
	OwnerID   string `gorm:"size:40;index:by_owner"`
	OwnerType string `gorm:"size:40;index:by_owner"`
	CreatedAt time.Time
}

type Pet struct {
	gorm.Model
	UserID *uint
	Name   string `gorm:"size:60;index"`
	Toys   []Toy  `gorm:"polymorphic:Owner;"`
}

type User struct {
	gorm.Model
	Name      string `gorm:"size:80;index:name_age,priority:1;not null"`
	Age       uint   `gorm:"index:name_age,priority:2,sort:desc;check:age_checker,age < 200"`
	Birthday  *time.Time
	Active    bool `gorm:"default:true"`
	Balance   float64
	Email     *string        `gorm:"size:120;uniqueIndex"`
	Profile   datatypes.JSON `gorm:"type:json"`
	Tags      datatypes.JSONSlice[string]
	Born      *datatypes.Date
	CompanyID *uint
	Company   Company
	ManagerID *uint
	Manager   *User
	Team      []User `gorm:"foreignKey:ManagerID"`
	Account   Account
	Pets      []*Pet
	Toys      []Toy      `gorm:"polymorphic:Owner"`
	Languages []Language `gorm:"many2many:user_languages;"`
	Friends   []*User    `gorm:"many2many:user_friends"`
	hooks     []string
}

func (u *User) BeforeCreate(tx *gorm.DB) error {
	u.hooks = append(u.hooks, "before create")
	if u.Name == "refused" {
		return errors.New("refused by hook")
	}
	return nil
}

func (u *User) AfterCreate(tx *gorm.DB) error {
	u.hooks = append(u.hooks, "after create")
	if u.Name == "rolled back" {
		return errors.New("rolled back by hook")
	}
	return nil
}

func (u *User) AfterFind(tx *gorm.DB) error {
	u.hooks = append(u.hooks, "after find")
	return nil
}

func open(t *testing.T) *gorm.DB {
	t.Helper()
	dsn := os.Getenv("DSN")
	if dsn == "" {
		t.Skip("DSN is not set")
	}
	level := logger.Silent
	if testing.Verbose() && os.Getenv("GORM_LOG") != "" {
		level = logger.Info
	}
	conf := &gorm.Config{TranslateError: true, Logger: logger.New(writer{t}, logger.Config{LogLevel: level, IgnoreRecordNotFoundError: true})}
	db, err := gorm.Open(mysql.Open(dsn), conf)
	if err != nil {
		t.Fatal(err)
	}
	sqlDB, _ := db.DB()
	t.Cleanup(func() { sqlDB.Close() })
	return db
}

type writer struct{ t *testing.T }

func (w writer) Printf(format string, args ...any) { w.t.Logf(format, args...) }

func must(t *testing.T, tx *gorm.DB) *gorm.DB {
	t.Helper()
	if tx.Error != nil {
		t.Fatal(tx.Error)
	}
	return tx
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

var models = []any{&Company{}, &Language{}, &User{}, &Account{}, &Pet{}, &Toy{}}

// fresh drops and makes all tables.
func fresh(t *testing.T) *gorm.DB {
	t.Helper()
	db := open(t)
	m := db.Migrator()
	noErr(t, m.DropTable("user_languages", "user_friends"))
	for i := len(models) - 1; i >= 0; i-- {
		noErr(t, m.DropTable(models[i]))
	}
	noErr(t, db.AutoMigrate(models...))
	return db
}

func ptr[T any](v T) *T { return &v }

func sample(name string) User {
	born := time.Date(1990, 5, 17, 8, 30, 0, 123000000, time.UTC)
	return User{
		Name: name, Age: 30, Birthday: &born, Active: true, Balance: 12.25, Email: ptr(name + "@example.org"),
		Profile: datatypes.JSON(`{"city": "Bonn", "langs": ["de", "en"], "n": 3}`), Tags: datatypes.JSONSlice[string]{"a", "b"},
		Born:      ptr(datatypes.Date(time.Date(1990, 5, 17, 0, 0, 0, 0, time.UTC))),
		Company:   Company{Name: name + " Ltd"},
		Account:   Account{Number: name + "-1"},
		Pets:      []*Pet{{Name: name + "-cat", Toys: []Toy{{Name: "ball"}, {Name: "mouse"}}}, {Name: name + "-dog"}},
		Toys:      []Toy{{Name: "train"}},
		Languages: []Language{{Code: "de", Name: "German"}, {Code: "en", Name: "English"}},
	}
}

func TestAutoMigrateAgain(t *testing.T) {
	db := fresh(t)
	var statements []string
	noErr(t, db.Callback().Raw().Before("gorm:raw").Register("count", func(tx *gorm.DB) {
		if sql := tx.Statement.SQL.String(); !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "SHOW") {
			statements = append(statements, sql)
		}
	}))
	noErr(t, db.AutoMigrate(models...))
	for _, s := range statements {
		t.Errorf("a second migration changed something: %s", s)
	}
}

type Item1 struct {
	ID    uint   `gorm:"primaryKey"`
	Code  string `gorm:"size:10"`
	Price int32
	Gone  string
	Note  string `gorm:"size:20;default:none;comment:what it is"`
}

func (Item1) TableName() string { return "items" }

type Item2 struct {
	ID       uint      `gorm:"primaryKey"`
	Code     string    `gorm:"size:40;not null;default:x;uniqueIndex:by_code"`
	Price    int64     `gorm:"index"`
	Note     string    `gorm:"size:200;default:nothing;comment:what it is not"`
	Added    float64   `gorm:"type:decimal(12,3);default:1.500"`
	Kind     string    `gorm:"type:enum('small','big');default:'small'"`
	When     time.Time `gorm:"type:datetime(6);default:CURRENT_TIMESTAMP(6)"`
	Blob     []byte    `gorm:"type:mediumblob"`
	Map      datatypes.JSONMap
	Uuid     datatypes.UUID
	Amount   uint64 `gorm:"check:amount_positive,amount >= 1;default:1"`
	ParentID *uint
	Parent   *Item2
}

func (Item2) TableName() string { return "items" }

func TestMigrationThatAlters(t *testing.T) {
	db := open(t)
	m := db.Migrator()
	noErr(t, m.DropTable("items", "articles"))
	noErr(t, db.AutoMigrate(&Item1{}))
	must(t, db.Create(&[]Item1{{Code: "a", Price: 1}, {Code: "b", Price: 2}}))
	noErr(t, db.AutoMigrate(&Item2{}))
	noErr(t, m.DropColumn(&Item2{}, "gone"))
	var items []Item2
	must(t, db.Order("id").Find(&items))
	equal(t, len(items), 2)
	equal(t, fmt.Sprint(items[1].Code, items[1].Price, items[1].Note, items[1].Added, items[1].Kind, items[1].Amount), "b2none1.5small1")
	for _, c := range []string{"id", "code", "price", "note", "added", "kind", "when", "blob", "map", "uuid", "amount", "parent_id"} {
		if !m.HasColumn(&Item2{}, c) {
			t.Errorf("column %s is missing", c)
		}
	}
	equal(t, m.HasColumn(&Item2{}, "gone"), false)
	equal(t, m.HasIndex(&Item2{}, "by_code"), true)
	equal(t, m.HasIndex(&Item2{}, "idx_items_price"), true)
	equal(t, m.HasConstraint(&Item2{}, "amount_positive"), true)
	equal(t, m.HasConstraint(&Item2{}, "Parent"), true)
	equal(t, m.HasConstraint(&Item2{}, "nothing"), false)
	if err := db.Create(&Item2{Code: "z", Amount: 0, Map: nil}).Error; err != nil {
		t.Fatal(err) // zero takes the default
	}
	if err := db.Exec("INSERT INTO items (code, amount) VALUES ('q', 0)").Error; err == nil || !errors.Is(err, gorm.ErrCheckConstraintViolated) && !strings.Contains(err.Error(), "amount_positive") {
		t.Fatalf("check: %v", err)
	}
	if err := db.Create(&Item2{Code: "a"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Fatalf("duplicate: %v", err)
	}
	if err := db.Create(&Item2{Code: "c", ParentID: ptr(uint(999))}).Error; !errors.Is(err, gorm.ErrForeignKeyViolated) {
		t.Fatalf("foreign key: %v", err)
	}
	var before int64
	must(t, db.Model(&Item2{}).Count(&before))
	var again []string
	noErr(t, db.Callback().Raw().Before("gorm:raw").Register("count", func(tx *gorm.DB) {
		if sql := tx.Statement.SQL.String(); strings.HasPrefix(sql, "ALTER") || strings.HasPrefix(sql, "CREATE") {
			again = append(again, sql)
		}
	}))
	noErr(t, db.AutoMigrate(&Item2{}))
	if len(again) > 0 {
		t.Errorf("the third migration changed something: %q", again)
	}

	types, err := m.ColumnTypes(&Item2{})
	noErr(t, err)
	seen := map[string]string{}
	for _, c := range types {
		length, hasLength := c.Length()
		precision, scale, isDecimal := c.DecimalSize()
		null, _ := c.Nullable()
		pk, _ := c.PrimaryKey()
		auto, _ := c.AutoIncrement()
		unique, _ := c.Unique()
		def, hasDefault := c.DefaultValue()
		comment, _ := c.Comment()
		ct, _ := c.ColumnType()
		seen[c.Name()] = fmt.Sprint(c.DatabaseTypeName(), " ", ct, " ", length, hasLength, " ", precision, scale, isDecimal, " ", null, pk, auto, unique, " ", def, hasDefault, " ", comment)
	}
	want := map[string]string{
		"id":    "bigint bigint unsigned 0 false 20 0 true false true true false false ",
		"code":  "varchar varchar(40) 40 true 0 0 false false false false true xtrue ",
		"note":  "varchar varchar(200) 200 true 0 0 false true false false false nothingtrue what it is not",
		"added": "decimal decimal(12,3) 0 false 12 3 true true false false false 1.500true ",
		"kind":  "enum enum('small','big') 5 true 0 0 false true false false false smalltrue ",
	}
	for name, w := range want {
		if seen[name] != w {
			t.Errorf("%s:\n got %s\nwant %s", name, seen[name], w)
		}
	}
	noErr(t, m.RenameColumn(&Item2{}, "note", "remark"))
	equal(t, m.HasColumn(&Item2{}, "remark"), true)
	noErr(t, m.RenameIndex(&Item2{}, "by_code", "by_code2"))
	equal(t, m.HasIndex(&Item2{}, "by_code2"), true)
	noErr(t, m.DropIndex(&Item2{}, "by_code2"))
	noErr(t, m.DropConstraint(&Item2{}, "amount_positive"))
	equal(t, m.HasConstraint(&Item2{}, "amount_positive"), false)
	noErr(t, m.CreateConstraint(&Item2{}, "amount_positive"))
	noErr(t, m.DropConstraint(&Item2{}, "Parent"))
	noErr(t, m.CreateConstraint(&Item2{}, "Parent"))
	equal(t, m.HasConstraint(&Item2{}, "Parent"), true)
	noErr(t, m.AlterColumn(&Item2{}, "Price"))
	indexes, err := m.GetIndexes(&Item2{})
	noErr(t, err)
	var names []string
	for _, ix := range indexes {
		unique, _ := ix.Unique()
		pk, _ := ix.PrimaryKey()
		names = append(names, fmt.Sprint(ix.Name(), ix.Columns(), unique, pk))
	}
	slices.Sort(names)
	equal(t, names[:1], []string{"PRIMARY[id] true true"})
	noErr(t, m.RenameTable("items", "articles"))
	equal(t, m.HasTable("articles"), true)
	equal(t, m.HasTable("items"), false)
	tables, err := m.GetTables()
	noErr(t, err)
	equal(t, slices.Contains(tables, "articles"), true)
	equal(t, m.CurrentDatabase() != "", true)
	tt, err := m.TableType("articles")
	noErr(t, err)
	equal(t, tt.Name(), "articles")
	equal(t, tt.Type(), "BASE TABLE")
	noErr(t, m.CreateView("cheap", gorm.ViewOption{Query: db.Table("articles").Select("id, code").Where("price < ?", 5), Replace: true}))
	var n int64
	must(t, db.Table("cheap").Count(&n))
	equal(t, n, before)
	noErr(t, m.DropView("cheap"))
	noErr(t, m.DropTable("articles"))
}

func TestCreateAndRead(t *testing.T) {
	db := fresh(t)
	u := sample("ann")
	must(t, db.Create(&u))
	equal(t, u.hooks, []string{"before create", "after create"})
	equal(t, u.ID, uint(1))
	equal(t, len(u.Pets) == 2 && u.Pets[1].ID == 2, true)

	var got User
	must(t, db.Preload("Account").Preload("Pets.Toys", func(tx *gorm.DB) *gorm.DB { return tx.Order("toys.name DESC") }).Preload("Toys").Preload("Languages").Preload(clause.Associations).First(&got, "name = ?", "ann"))
	equal(t, got.hooks, []string{"after find"})
	equal(t, got.Account.Number, "ann-1")
	equal(t, len(got.Pets), 2)
	equal(t, len(got.Pets[0].Toys), 2)
	equal(t, got.Pets[0].Toys[0].Name, "mouse")
	equal(t, len(got.Toys), 1)
	equal(t, len(got.Languages), 2)
	equal(t, got.Company.Name, "ann Ltd")
	equal(t, got.Birthday.UTC().Format("2006-01-02 15:04:05.000"), "1990-05-17 08:30:00.123")
	equal(t, got.Tags, datatypes.JSONSlice[string]{"a", "b"})
	equal(t, time.Time(*got.Born).Format("2006-01-02"), "1990-05-17")
	equal(t, *got.Email, "ann@example.org")
	equal(t, got.Balance, 12.25)
	var profile map[string]any
	noErr(t, json.Unmarshal(got.Profile, &profile))
	equal(t, profile["city"], any("Bonn"))

	var joined []User
	must(t, db.Joins("Company").Joins("Account").Where("Company.name LIKE ?", "ann%").Find(&joined))
	equal(t, len(joined), 1)
	equal(t, joined[0].Company.Name, "ann Ltd")
	equal(t, joined[0].Account.Number, "ann-1")
	must(t, db.InnerJoins("Company", db.Where(&Company{Name: "nobody"})).Find(&joined))
	equal(t, len(joined), 0)
	var rows []struct {
		Name string
		Toys int
	}
	must(t, db.Model(&Pet{}).Select("pets.name, COUNT(toys.id) AS toys").Joins("LEFT JOIN toys ON toys.owner_id = pets.id AND toys.owner_type = ?", "pets").Group("pets.name").Having("COUNT(toys.id) >= ?", 0).Order("pets.name").Scan(&rows))
	equal(t, fmt.Sprint(rows), "[{ann-cat 2} {ann-dog 0}]")

	var first, last, take User
	must(t, db.First(&first))
	must(t, db.Last(&last))
	must(t, db.Take(&take))
	if err := db.First(&User{}, 12345).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Fatal(err)
	}
	if err := db.Create(&User{Name: "refused"}).Error; err == nil {
		t.Fatal("the hook did not refuse")
	}
	if err := db.Create(&User{Name: "rolled back"}).Error; err == nil {
		t.Fatal("the hook did not roll back")
	}
	var n int64
	must(t, db.Model(&User{}).Count(&n))
	equal(t, n, int64(1))
	if err := db.Create(&User{Name: "old", Age: 300}).Error; err == nil {
		t.Fatal("the check let 300 pass")
	}
	if err := db.Create(&User{Name: "twin", Email: ptr("ann@example.org")}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Fatal(err)
	}
}

func TestQueries(t *testing.T) {
	db := fresh(t)
	var users []User
	for i := range 50 {
		users = append(users, User{Name: fmt.Sprintf("u%02d", i), Age: uint(i), Balance: float64(i) * 1.5, Profile: datatypes.JSON(fmt.Sprintf(`{"n": %d, "tags": {"even": %v}}`, i, i%2 == 0))})
	}
	must(t, db.CreateInBatches(&users, 7))
	equal(t, users[49].ID, uint(50))

	var n int64
	must(t, db.Model(&User{}).Where("age BETWEEN ? AND ?", 10, 19).Count(&n))
	equal(t, n, int64(10))
	must(t, db.Model(&User{}).Where("name IN ?", []string{"u01", "u02", "zz"}).Or("age > ?", 47).Count(&n))
	equal(t, n, int64(4))
	must(t, db.Model(&User{}).Where(db.Where("age < 5").Where(db.Where("name = 'u01'").Or("name = 'u02'"))).Count(&n))
	equal(t, n, int64(2))
	must(t, db.Model(&User{}).Not(map[string]any{"name": []string{"u01", "u02"}}).Count(&n))
	equal(t, n, int64(48))
	must(t, db.Model(&User{}).Where("(name, age) IN ?", [][]any{{"u03", 3}, {"u04", 5}}).Count(&n))
	equal(t, n, int64(1))
	must(t, db.Model(&User{}).Where(datatypes.JSONQuery("profile").HasKey("tags", "even")).Count(&n))
	equal(t, n, int64(50))
	must(t, db.Model(&User{}).Where(datatypes.JSONQuery("profile").Equals(true, "tags", "even")).Count(&n))
	equal(t, n, int64(25))
	must(t, db.Model(&User{}).Where(datatypes.JSONQuery("profile").Equals(7, "n")).Count(&n))
	equal(t, n, int64(1))
	must(t, db.Model(&User{}).Where("id = ?", 8).UpdateColumn("profile", datatypes.JSONSet("profile").Set("n", 700).Set("new", "x")))
	must(t, db.Model(&User{}).Where("profile->'$.n' = ? AND profile->>'$.new' = 'x'", 700).Count(&n))
	equal(t, n, int64(1))
	var names []string
	must(t, db.Model(&User{}).Order("age DESC").Limit(3).Offset(1).Pluck("name", &names))
	equal(t, names, []string{"u48", "u47", "u46"})
	must(t, db.Model(&User{}).Distinct("active").Pluck("active", &names))
	equal(t, names, []string{"1"})
	var sum float64
	noErr(t, db.Model(&User{}).Select("SUM(balance)").Where("age > (?)", db.Model(&User{}).Select("AVG(age)")).Row().Scan(&sum))
	equal(t, sum, 1387.5)
	seen := 0
	must(t, db.FindInBatches(&[]User{}, 20, func(tx *gorm.DB, batch int) error { seen += int(tx.RowsAffected); return nil }))
	equal(t, seen, 50)
	rows, err := db.Model(&User{}).Where("age < 3").Rows()
	noErr(t, err)
	var scanned []string
	for rows.Next() {
		var u User
		noErr(t, db.ScanRows(rows, &u))
		scanned = append(scanned, u.Name)
	}
	noErr(t, rows.Close())
	equal(t, scanned, []string{"u00", "u01", "u02"})
	var m map[string]any
	must(t, db.Model(&User{}).Select("name", "age", "balance", "created_at").First(&m, 3))
	equal(t, m["name"], any("u02"))
	must(t, db.Raw("SELECT name, age FROM users WHERE name = @name OR age = @age ORDER BY age", map[string]any{"name": "u05", "age": 6}).Scan(&users))
	equal(t, len(users), 2)
	var u User
	must(t, db.Clauses(clause.Locking{Strength: "UPDATE", Options: "NOWAIT"}).First(&u, 1))
	must(t, db.Clauses(clause.Locking{Strength: "SHARE", Table: clause.Table{Name: clause.CurrentTable}}).First(&u))
	u = User{}
	must(t, db.Where(User{Name: "fresh"}).Attrs(User{Age: 7}).FirstOrCreate(&u))
	u = User{}
	must(t, db.Where(User{Name: "newer"}).Assign(User{Age: 9}).FirstOrCreate(&u))
	equal(t, u.Age, uint(9))
	u = User{}
	must(t, db.Where(User{Name: "newer"}).Assign(User{Age: 10}).FirstOrCreate(&u))
	must(t, db.Model(&User{}).Where("name = 'newer' AND age = 10").Count(&n))
	equal(t, n, int64(1))
	must(t, db.Table("(?) AS q", db.Model(&User{}).Select("age % 10 AS d")).Select("d, COUNT(*)").Group("d").Count(&n))
	equal(t, n, int64(10))
	_, err = gorm.G[User](db).Where("name = ?", "u11").First(context.Background())
	noErr(t, err)
}

func TestUpdateAndDelete(t *testing.T) {
	db := fresh(t)
	u := sample("bob")
	must(t, db.Create(&u))
	must(t, db.Model(&u).Update("name", "rob"))
	must(t, db.Model(&u).Updates(User{Age: 44, Balance: 1}))
	must(t, db.Model(&u).Updates(map[string]any{"active": false, "age": gorm.Expr("age * ? + ?", 2, 1)}))
	must(t, db.Model(&u).Select("Balance", "Birthday").Updates(User{}))
	var got User
	must(t, db.First(&got, u.ID))
	equal(t, fmt.Sprint(got.Name, got.Age, got.Active, got.Balance, got.Birthday), "rob89 false 0 <nil>")
	got.Name = "saved"
	must(t, db.Save(&got))
	res := must(t, db.Model(&User{}).Where("age > 1000").Update("age", 1))
	equal(t, res.RowsAffected, int64(0))
	if err := db.Model(&User{}).Update("age", 1).Error; !errors.Is(err, gorm.ErrMissingWhereClause) {
		t.Fatal(err)
	}
	must(t, db.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&User{}).UpdateColumn("age", gorm.Expr("age + 1")))

	must(t, db.Delete(&got))
	if err := db.First(&User{}, u.ID).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Fatal(err)
	}
	var deleted User
	must(t, db.Unscoped().First(&deleted, u.ID))
	equal(t, deleted.DeletedAt.Valid, true)
	equal(t, deleted.Age, uint(90))
	must(t, db.Unscoped().Model(&deleted).Update("deleted_at", nil))
	must(t, db.First(&User{}, u.ID))
	if err := db.Unscoped().Delete(&deleted).Error; !errors.Is(err, gorm.ErrForeignKeyViolated) {
		t.Fatalf("foreign keys let it go: %v", err)
	}
	must(t, db.Select("Account", "Pets", "Languages", "Toys").Delete(&deleted))
	var n int64
	must(t, db.Model(&Pet{}).Count(&n))
	equal(t, n, int64(0))
	must(t, db.Table("user_languages").Count(&n))
	equal(t, n, int64(0))
}

func TestUpsert(t *testing.T) {
	db := fresh(t)
	must(t, db.Create(&Language{Code: "fr", Name: "French"}))
	must(t, db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Language{Code: "fr", Name: "x"}))
	must(t, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&[]Language{{Code: "fr", Name: "Français"}, {Code: "it", Name: "Italiano"}}))
	must(t, db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "code"}}, DoUpdates: clause.Assignments(map[string]any{"name": gorm.Expr("CONCAT(name, '!')")})}).Create(&Language{Code: "it", Name: "y"}))
	must(t, db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&Language{Code: "es", Name: "Español"}))
	must(t, db.Save(&Language{Code: "es", Name: "saved"}))
	must(t, db.Clauses(clause.Insert{Modifier: "IGNORE"}).Create(&Language{Code: "es", Name: "z"}))
	var got []Language
	must(t, db.Order("code").Find(&got))
	equal(t, fmt.Sprint(got), "[{es saved []} {fr Français []} {it Italiano! []}]")
}

func TestTransactions(t *testing.T) {
	db := fresh(t)
	count := func() (n int64) { must(t, db.Model(&Company{}).Count(&n)); return }
	boom := errors.New("boom")
	err := db.Transaction(func(tx *gorm.DB) error {
		must(t, tx.Create(&Company{Name: "one"}))
		inner := tx.Transaction(func(tx2 *gorm.DB) error {
			must(t, tx2.Create(&Company{Name: "two"}))
			return boom
		})
		equal(t, inner, boom)
		return tx.Transaction(func(tx2 *gorm.DB) error { return tx2.Create(&Company{Name: "three"}).Error })
	})
	noErr(t, err)
	equal(t, count(), int64(2))
	equal(t, db.Transaction(func(tx *gorm.DB) error { must(t, tx.Create(&Company{Name: "four"})); return boom }), boom)
	equal(t, count(), int64(2))
	tx := db.Begin()
	must(t, tx.Create(&Company{Name: "five"}))
	must(t, tx.SavePoint("sp"))
	must(t, tx.Create(&Company{Name: "six"}))
	must(t, tx.RollbackTo("sp"))
	must(t, tx.Commit())
	equal(t, count(), int64(3))
	// A failed statement leaves the transaction usable.
	noErr(t, db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&Company{Name: "five"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Fatal(err)
		}
		return tx.Create(&Company{Name: "seven"}).Error
	}))
	equal(t, count(), int64(4))
	dry := db.Session(&gorm.Session{DryRun: true}).Create(&Company{Name: "dry"})
	equal(t, dry.Statement.SQL.String(), "INSERT INTO `companies` (`name`) VALUES (?)")
	prepared := db.Session(&gorm.Session{PrepareStmt: true})
	for range 5 {
		var c Company
		must(t, prepared.First(&c, "name = ?", "one"))
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Transaction(func(tx *gorm.DB) error { must(t, tx.Create(&Company{Name: "panic"})); panic("x") })
	}()
	equal(t, count(), int64(4))
}

func TestAssociations(t *testing.T) {
	db := fresh(t)
	u := sample("eve")
	must(t, db.Create(&u))
	langs := func() *gorm.Association { return db.Model(&u).Association("Languages") }
	equal(t, langs().Count(), int64(2))
	noErr(t, langs().Append(&Language{Code: "fr", Name: "French"}))
	noErr(t, langs().Delete(&Language{Code: "de"}))
	var found []Language
	noErr(t, db.Model(&u).Order("code").Association("Languages").Find(&found))
	equal(t, fmt.Sprint(found), "[{en English []} {fr French []}]")
	noErr(t, langs().Replace(&Language{Code: "it", Name: "Italian"}))
	equal(t, langs().Count(), int64(1))
	noErr(t, langs().Clear())
	equal(t, langs().Count(), int64(0))
	noErr(t, db.Model(&u).Association("Pets").Replace(&Pet{Name: "only"}))
	equal(t, db.Model(&u).Association("Pets").Count(), int64(1))
	noErr(t, db.Model(&u).Association("Toys").Append(&Toy{Name: "kite"}))
	equal(t, db.Model(&u).Association("Toys").Count(), int64(2))
	noErr(t, db.Model(&u).Association("Company").Replace(&Company{Name: "Other"}))
	boss := sample("boss")
	boss.Languages = nil
	must(t, db.Create(&boss))
	noErr(t, db.Model(&boss).Association("Team").Append(&u))
	noErr(t, db.Model(&u).Association("Friends").Append(&boss))
	var again User
	must(t, db.Preload("Manager").Preload("Manager.Company").Preload("Friends").First(&again, u.ID))
	equal(t, again.Manager.Name, "boss")
	equal(t, again.Manager.Company.Name, "boss Ltd")
	equal(t, again.Friends[0].Name, "boss")
	var joined User
	must(t, db.Joins("Manager").Joins("Manager.Company").First(&joined, u.ID))
	equal(t, joined.Manager.Company.Name, "boss Ltd")
	var manager User
	must(t, db.Preload("Team", "age > ?", 100).First(&manager, boss.ID))
	equal(t, len(manager.Team), 0)
}
