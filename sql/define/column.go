package define

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// maxIdentifier is the longest name, in characters.
const maxIdentifier = 64

// CheckName checks the name of a column, index or table: 1059.
func CheckName(name string) error {
	if utf8.RuneCountInString(name) > maxIdentifier {
		return sqlerr.IdentifierTooLong(name)
	}
	return nil
}

// CheckColumnName checks the name of a column: 1059, 1166.
func CheckColumnName(name string) error {
	if name == "" || strings.HasSuffix(name, " ") || strings.EqualFold(name, schema.HiddenKeyColumn) {
		return sqlerr.WrongColumnName(name)
	}
	return CheckName(name)
}

// Column is the definition of a column with what is written of it among its
// options.
type Column struct {
	schema.Column
	// Primary and Unique: it is a key.
	Primary, Unique bool
	// Null: the definition says NULL.
	Null bool
	// HasDefault: there is a DEFAULT clause.
	HasDefault bool
}

// Finish checks the options of a column against each other, and makes columns of
// the primary key and with AUTO_INCREMENT NOT NULL: 1063, 1067, 1171, 1221, 3106.
func (d *Column) Finish() error {
	if err := d.checkGenerated(); err != nil {
		return err
	}
	if d.Primary {
		if d.Null {
			return sqlerr.PrimaryCantHaveNull()
		}
		d.Nullable = false
	}
	if !d.AutoIncrement {
		return nil
	}
	if !d.Type.IsInteger() && !d.Type.IsFloat() {
		return sqlerr.IncorrectColumnSpecifier(d.Name)
	}
	if d.HasDefault {
		return sqlerr.InvalidDefault(d.Name)
	}
	if d.Null {
		return sqlerr.PrimaryCantHaveNull()
	}
	d.Nullable = false
	return nil
}

// checkGenerated refuses what a generated column cannot have: 1221 as MySQL's
// grammar has it, 3106.
func (d *Column) checkGenerated() error {
	switch {
	case d.Generated == nil:
		return nil
	case d.HasDefault:
		return sqlerr.WrongUsage("DEFAULT", "generated column")
	case d.AutoIncrement:
		return sqlerr.WrongUsage("AUTO_INCREMENT", "generated column")
	case d.OnUpdateNow:
		return sqlerr.WrongUsage("ON UPDATE", "generated column")
	case d.Primary && d.IsVirtual():
		return virtualPrimaryKey()
	}
	return nil
}

// SetComment sets the comment of a column: 1629.
func SetComment(c *schema.Column, text string) error {
	c.Comment = text
	if utf8.RuneCountInString(text) > maxColumnComment {
		return sqlerr.ColumnCommentTooLong(c.Name, maxColumnComment)
	}
	return nil
}

// maxColumnComment is the longest comment of a column, in characters.
const maxColumnComment = 1024

// holdsNow reports a column that can have the current time with fsp digits of
// the second.
func holdsNow(c *schema.Column, fsp int) bool {
	return (c.Type.ID == schema.TypeTimestamp || c.Type.ID == schema.TypeDatetime) && fsp == c.Type.Scale
}

// SetOnUpdateNow is ON UPDATE CURRENT_TIMESTAMP(fsp): 1294.
func SetOnUpdateNow(c *schema.Column, fsp int) error {
	if !holdsNow(c, fsp) {
		return sqlerr.InvalidOnUpdate(c.Name)
	}
	c.OnUpdateNow = true
	return nil
}

// NowDefault is DEFAULT CURRENT_TIMESTAMP(fsp): 1067.
func NowDefault(c *schema.Column, fsp int) (*schema.Default, error) {
	switch {
	case !holdsNow(c, fsp):
		return nil, sqlerr.InvalidDefault(c.Name)
	case fsp > 0:
		return &schema.Default{Expr: "CURRENT_TIMESTAMP(" + strconv.Itoa(fsp) + ")"}, nil
	}
	return &schema.Default{Expr: "CURRENT_TIMESTAMP"}, nil
}

// ConstDefault is the default that a literal is: it is converted to the type of
// the column as strictly as a write in strict mode, while zero dates follow
// mode. Errors: 1067, 1101. Without strict mode an empty default of a BLOB or TEXT is
// a warning, and none.
func ConstDefault(mode types.SQLMode, c *schema.Column, k *expr.Const, warn func(*sqlerr.Error)) (*schema.Default, error) {
	if k.D.IsNull() {
		if !c.Nullable {
			return nil, sqlerr.InvalidDefault(c.Name)
		}
		return &schema.Default{Null: true}, nil
	}
	if c.Type.IsBlobOrText() || c.Type.ID == schema.TypeJSON || c.Type.ID == schema.TypeGeometry {
		e := sqlerr.BlobCantHaveDefault(c.Name)
		if mode.Strict() || k.D.Kind() != value.KindBytes || len(k.D.Bytes()) > 0 {
			return nil, e
		}
		warn(e)
		return nil, nil
	}
	env := &types.Env{Mode: mode | types.ModeStrictTransTables | types.ModeStrictAllTables, Write: true}
	if (c.Type.ID == schema.TypeEnum || c.Type.ID == schema.TypeSet) && !types.IsMember(env, k.D, k.T, c.Type) {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	bad := false
	env.Warn = func(w sqlerr.Warning) { bad = bad || w.Level != sqlerr.LevelNote }
	d, err := types.Store(env, k.D, k.T, c, 1)
	if err != nil || bad && !c.Type.IsNumeric() {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	text := types.AppendText(nil, c.Type, d)
	switch {
	case c.Type.ID == schema.TypeBit:
		return &schema.Default{Expr: "b'" + strconv.FormatUint(d.Uint(), 2) + "'"}, nil
	case c.Type.Collation != schema.CollationBinary && (c.Type.IsCharacter() || c.Type.ID == schema.TypeEnum || c.Type.ID == schema.TypeSet):
		// Literals are UTF-8, whatever the column's character set.
		text, _ = collate.Must(c.Type.Collation).Convert(nil, text, collate.Must(schema.CollationUTF8MB4Bin))
	case !utf8.Valid(text):
		return &schema.Default{Expr: "0x" + strings.ToUpper(hex.EncodeToString(text))}, nil
	}
	return &schema.Default{Literal: string(text)}, nil
}
