package command

import (
	"context"
	"hash/crc32"
	"strings"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// checksum is CHECKSUM TABLE: a number for each table that depends on its rows
// but not on their order; NULL, with a warning, for a table that is not there,
// and NULL with QUICK, because no number is kept. See MySQL 8.4, CHECKSUM TABLE
// Statement; the numbers are not those of InnoDB.
func (s *commands) checksum(ctx context.Context, x *logical.Maintain, more bool, w mysqlwire.ResultWriter) error {
	sums := make([]value.Datum, len(x.Tables))
	for i, n := range x.Tables {
		if _, ok := s.Engine.Catalog.Snapshot().Table(n.DB, n.Name); !ok {
			s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelError, Err: sqlerr.NoSuchTable(n.DB, n.Name)})
			continue
		}
		if x.Quick {
			continue
		}
		sum, err := s.tableChecksum(ctx, n)
		if err != nil {
			return err
		}
		sums[i] = value.Int(int64(sum))
	}
	err := w.Header(mysqlwire.NewHeader([]mysqlwire.Column{
		{Name: "Table", Type: types.VarcharOf(128, schema.CollationUTF8MB40900AICI)}, {Name: "Checksum", Type: types.BigInt}}))
	if err != nil {
		return err
	}
	for i, n := range x.Tables {
		if err := w.Row([]value.Datum{value.String(n.DB + "." + n.Name), sums[i]}); err != nil {
			return err
		}
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}

// tableChecksum is the sum of the checksums of all rows.
func (s *commands) tableChecksum(ctx context.Context, n logical.TableName) (uint32, error) {
	quote := func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
	stmt, err := s.Engine.Parsers.Parse("SELECT * FROM "+quote(n.DB)+"."+quote(n.Name), 0)
	if err != nil {
		return 0, err
	}
	bound, err := s.BindStatement(ctx, stmt)
	if err != nil {
		return 0, err
	}
	c, err := s.MakePlan(ctx, bound, nil, nil)
	if err != nil {
		return 0, err
	}
	cols := c.Plan.Root.Columns()
	var sum uint32
	var text []byte
	err = s.EachRow(ctx, c, nil, func(row []value.Datum) error {
		crc := uint32(0)
		for i, d := range row {
			text = append(text[:0], 0)
			if !d.IsNull() {
				text = types.AppendText(append(text[:0], 1), cols[i].T, d)
			}
			crc = crc32.Update(crc, crc32.IEEETable, text)
		}
		sum += crc
		return nil
	})
	return sum, err
}
