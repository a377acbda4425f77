package infoschema

import (
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/priv"
)

const infoDB = "information_schema"

// schemaTables describe databases, tables, columns and keys.
func schemaTables() []*table {
	return []*table{
		newTable(infoDB, "SCHEMATA", "CATALOG_NAME n64, SCHEMA_NAME n64, DEFAULT_CHARACTER_SET_NAME s64, DEFAULT_COLLATION_NAME s64, SQL_PATH s1?, DEFAULT_ENCRYPTION e:NO|YES", schemata),
		newTable(infoDB, "SCHEMATA_EXTENSIONS", "CATALOG_NAME n64, SCHEMA_NAME n64, OPTIONS s256?", schemataExtensions),
		newTable(infoDB, "TABLES", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, TABLE_TYPE e:BASE TABLE|VIEW|SYSTEM VIEW, ENGINE s64?, VERSION i?, ROW_FORMAT e:Fixed|Dynamic|Compressed|Redundant|Compact|Paged?, TABLE_ROWS u?, AVG_ROW_LENGTH u?, DATA_LENGTH u?, MAX_DATA_LENGTH u?, INDEX_LENGTH u?, DATA_FREE u?, AUTO_INCREMENT u?, CREATE_TIME d?, UPDATE_TIME d?, CHECK_TIME d?, TABLE_COLLATION s64?, CHECKSUM i?, CREATE_OPTIONS s256?, TABLE_COMMENT t?", tables),
		newTable(infoDB, "TABLES_EXTENSIONS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, ENGINE_ATTRIBUTE j?, SECONDARY_ENGINE_ATTRIBUTE t?", tablesExtensions),
		newTable(infoDB, "COLUMNS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64?, ORDINAL_POSITION u, COLUMN_DEFAULT t?, IS_NULLABLE s3, DATA_TYPE t?, CHARACTER_MAXIMUM_LENGTH i?, CHARACTER_OCTET_LENGTH i?, NUMERIC_PRECISION u?, NUMERIC_SCALE u?, DATETIME_PRECISION u?, CHARACTER_SET_NAME s64?, COLLATION_NAME s64?, COLUMN_TYPE t, COLUMN_KEY e:PRI|UNI|MUL, EXTRA s256?, PRIVILEGES s154?, COLUMN_COMMENT t, GENERATION_EXPRESSION t, SRS_ID u?", columnRows),
		newTable(infoDB, "COLUMNS_EXTENSIONS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64?, ENGINE_ATTRIBUTE j?, SECONDARY_ENGINE_ATTRIBUTE j?", columnsExtensions),
		newTable(infoDB, "STATISTICS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, NON_UNIQUE i, INDEX_SCHEMA n64, INDEX_NAME s64?, SEQ_IN_INDEX u, COLUMN_NAME s64?, COLLATION s1?, CARDINALITY i?, SUB_PART i?, PACKED s1?, NULLABLE s3, INDEX_TYPE s11, COMMENT s8, INDEX_COMMENT s2048, IS_VISIBLE s3, EXPRESSION t?", statistics),
		newTable(infoDB, "KEY_COLUMN_USAGE", "CONSTRAINT_CATALOG n64, CONSTRAINT_SCHEMA n64, CONSTRAINT_NAME s64?, TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64?, ORDINAL_POSITION u, POSITION_IN_UNIQUE_CONSTRAINT u?, REFERENCED_TABLE_SCHEMA n64?, REFERENCED_TABLE_NAME n64?, REFERENCED_COLUMN_NAME s64?", keyColumnUsage),
		newTable(infoDB, "REFERENTIAL_CONSTRAINTS", "CONSTRAINT_CATALOG n64, CONSTRAINT_SCHEMA n64, CONSTRAINT_NAME s64?, UNIQUE_CONSTRAINT_CATALOG n64, UNIQUE_CONSTRAINT_SCHEMA n64, UNIQUE_CONSTRAINT_NAME s64?, MATCH_OPTION e:NONE|PARTIAL|FULL, UPDATE_RULE e:NO ACTION|RESTRICT|CASCADE|SET NULL|SET DEFAULT, DELETE_RULE e:NO ACTION|RESTRICT|CASCADE|SET NULL|SET DEFAULT, TABLE_NAME n64, REFERENCED_TABLE_NAME n64", referentialConstraints),
		newTable(infoDB, "TABLE_CONSTRAINTS", "CONSTRAINT_CATALOG n64, CONSTRAINT_SCHEMA n64, CONSTRAINT_NAME s64?, TABLE_SCHEMA n64, TABLE_NAME n64, CONSTRAINT_TYPE s11, ENFORCED s3", tableConstraints),
		newTable(infoDB, "CHECK_CONSTRAINTS", "CONSTRAINT_CATALOG n64, CONSTRAINT_SCHEMA n64, CONSTRAINT_NAME s64, CHECK_CLAUSE t", checkConstraints),
		newTable(infoDB, "TABLE_CONSTRAINTS_EXTENSIONS", "CONSTRAINT_CATALOG n64, CONSTRAINT_SCHEMA n64, CONSTRAINT_NAME s64?, TABLE_NAME n64, ENGINE_ATTRIBUTE j?, SECONDARY_ENGINE_ATTRIBUTE t?", constraintExtensions),
	}
}

func schemata(q *query) error {
	for _, name := range q.databaseNames() {
		if !q.wants(name, "SCHEMA_NAME") {
			continue
		}
		coll := schema.CollationUTF8GeneralCI
		if d, ok := q.snap.Database(name); ok && !q.provider.IsVirtual(name) {
			coll = d.Collation
		}
		if coll == schema.CollationNone {
			coll = schema.CollationUTF8MB40900AICI
		}
		if err := q.emit("def", name, charsetName(coll), collationName(coll), nil, "NO"); err != nil {
			return err
		}
	}
	return nil
}

func schemataExtensions(q *query) error {
	for _, name := range q.databaseNames() {
		if err := q.emit("def", name, ""); err != nil {
			return err
		}
	}
	return nil
}

// The columns that hold the database and the name of a table.
var (
	schemaColumns = []string{"TABLE_SCHEMA", "CONSTRAINT_SCHEMA", "table_schema", "db"}
	tableColumns  = []string{"TABLE_NAME", "table_name"}
)

// tableStatus are the columns ENGINE to TABLE_COMMENT of TABLES.
func (q *query) tableStatus(t *schema.Table) []any {
	rows := uint64(max(q.server.TableRows(q.ctx, t), 0))
	data, index := q.server.TableSize(q.ctx, t)
	avg := uint64(0)
	if rows > 0 {
		avg = uint64(data) / rows
	}
	options := ""
	if t.Partitioning != nil {
		options = "partitioned"
	}
	if ttl := t.TTL; ttl != nil {
		text := "ttl=\"" + t.Column(ttl.Column).Name + " + INTERVAL " + ttl.Value + " " + ttl.Unit + "\""
		if ttl.Off {
			text += " ttl_enable=OFF"
		}
		options = strings.TrimLeft(options+" "+text, " ")
	}
	return []any{engineName(t), 10, "Dynamic", rows, avg, uint64(data), uint64(0), uint64(index), uint64(0), q.nextAutoIncrement(t),
		time.Unix(t.CreatedUnix, 0), nil, nil, collationName(t.Collation), nil, options, t.Comment}
}

// nextAutoIncrement is AUTO_INCREMENT of a table, NULL for one without such a column.
func (q *query) nextAutoIncrement(t *schema.Table) any {
	for i := range t.Columns {
		if t.Columns[i].AutoIncrement && len(t.PrimaryKey) > 0 {
			return max(q.server.NextAutoIncrement(t), 1)
		}
	}
	return nil
}

// kind is TABLE_TYPE of a virtual table.
func (t *table) kind() string {
	if t.db == infoDB {
		return "SYSTEM VIEW"
	}
	return "BASE TABLE"
}

func tables(q *query) error {
	err := q.eachTable(func(t *schema.Table) error {
		return q.emit(append([]any{"def", t.Database, t.Name, "BASE TABLE"}, q.tableStatus(t)...)...)
	})
	if err != nil {
		return err
	}
	err = q.eachView(func(v *schema.View) error {
		return q.emit(append([]any{"def", v.Database, v.Name, "VIEW"}, viewStatus(v)...)...)
	})
	if err != nil {
		return err
	}
	return q.eachVirtual(func(t *table) error {
		return q.emit("def", t.db, t.name, t.kind(), nil, 10, nil, uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), nil,
			q.server.Started(), nil, nil, nil, nil, "", "")
	})
}

func tablesExtensions(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		return q.emit("def", t.Database, t.Name, nil, orNull(t.Attributes))
	})
}

func columnsExtensions(q *query) error {
	return q.eachColumn(func(t *schema.Table, c *schema.Column, _ int, _ priv.Mask) error {
		return q.emit("def", t.Database, t.Name, c.Name, nil, nil)
	})
}

func columnRows(q *query) error {
	err := q.eachColumn(func(t *schema.Table, c *schema.Column, pos int, may priv.Mask) error {
		return q.columnRow(t.Database, t.Name, c, pos, columnKey(t, c), may)
	})
	if err != nil {
		return err
	}
	if err := q.eachView(q.viewColumnRows); err != nil {
		return err
	}
	return q.eachVirtual(func(t *table) error {
		rights := q.columnRights(t.db, t.name)
		for i := range t.cols {
			c := virtualColumn(&t.cols[i])
			if err := q.columnRow(t.db, t.name, &c, i+1, "", rights.of(c.Name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// columnRow is the row of COLUMNS for a column on which the account has the
// privileges, if it has any.
func (q *query) columnRow(db, tableName string, c *schema.Column, pos int, key string, may priv.Mask) error {
	if may == 0 {
		return nil
	}
	chars, octets := charLengths(c.Type)
	prec, scale, fsp := precisions(c.Type)
	var cs any
	if hasCharset(c.Type) {
		cs = charsetName(c.Type.Collation)
	}
	var srs any
	if c.Type.HasSRID {
		srs = uint64(c.Type.SRID)
	}
	return q.emit("def", db, tableName, c.Name, uint64(pos), columnDefault(c), yesNo(c.Nullable), c.Type.Name(), chars, octets,
		prec, scale, fsp, cs, columnCollation(c.Type), columnType(c.Type), key, columnExtra(c), columnPrivileges(may), c.Comment, generationExpression(c), srs)
}

// generationExpression is GENERATION_EXPRESSION, "" for ordinary columns.
func generationExpression(c *schema.Column) string {
	if c.Generated == nil {
		return ""
	}
	return escapedText(c.Generated.Expr)
}

// key is an index as STATISTICS and SHOW INDEX list it.
type key struct {
	name      string
	unique    bool
	parts     []schema.KeyPart
	comment   string
	invisible bool
	search    *schema.SearchIndex
}

// spatialPart is SUB_PART of a SPATIAL key: the bytes of a box.
const spatialPart = 32

// indexType is INDEX_TYPE.
func (k *key) indexType() string {
	switch {
	case k.search == nil:
		return "BTREE"
	case k.search.Form == schema.FormFulltext:
		return "FULLTEXT"
	case k.search.Form == schema.FormSpatial:
		return "SPATIAL"
	case k.search.Form == schema.FormColumnar:
		return "COLUMNAR"
	}
	return "INVERTED"
}

// keys are the primary key and the indexes that SQL sees.
func keys(t *schema.Table) []key {
	var out []key
	if hasPrimaryKey(t) {
		out = append(out, key{name: "PRIMARY", unique: true, parts: t.DeclaredKey()})
	}
	for _, x := range publicIndexes(t) {
		out = append(out, key{name: x.Name, unique: x.Unique, parts: x.Parts, comment: x.Comment, invisible: x.Invisible})
	}
	for i := range t.Search {
		x := &t.Search[i]
		k := key{name: x.Name, comment: x.Comment, invisible: x.Invisible, search: x}
		for _, f := range x.Fields {
			if len(k.parts) == 0 || k.parts[len(k.parts)-1].Column != f.Column {
				part := schema.KeyPart{Column: f.Column}
				if x.Form == schema.FormSpatial {
					part.Prefix = spatialPart
				}
				k.parts = append(k.parts, part)
			}
		}
		out = append(out, k)
	}
	return out
}

// keyColumnName is COLUMN_NAME of a key part: NULL for an expression.
func keyColumnName(c *schema.Column) any {
	if _, ok := keyExpression(c); ok {
		return nil
	}
	return c.Name
}

// keyExpressionText is EXPRESSION of a key part: NULL for a column.
func keyExpressionText(c *schema.Column) any {
	if e, ok := keyExpression(c); ok {
		return escapedText(e)
	}
	return nil
}

// keyRows calls fn with what STATISTICS and SHOW INDEX say of each key part.
func (q *query) keyRows(t *schema.Table, fn func(k *key, seq int, c *schema.Column, order, cardinality, subPart, null any) error) error {
	rows := q.server.TableRows(q.ctx, t)
	for _, k := range keys(t) {
		var prefix []schema.ColumnID
		for i, p := range k.parts {
			c := t.Column(p.Column)
			if c == nil {
				continue
			}
			if k.search != nil && k.search.Form == schema.FormColumnar {
				prefix = prefix[:0] // each column is on its own
			}
			prefix = append(prefix, p.Column)
			n := rows
			if !k.unique || i < len(k.parts)-1 {
				if n = q.server.Distinct(q.ctx, t, prefix); n == 0 {
					n = rows
				}
			}
			var order any = "A"
			switch {
			case k.search != nil && k.search.Form != schema.FormSpatial:
				order = nil
			case p.Desc:
				order = "D"
			}
			var sub any
			if p.Prefix > 0 {
				sub = p.Prefix
			}
			null := ""
			if c.Nullable {
				null = "YES"
			}
			if err := fn(&k, i+1, c, order, int64(n), sub, null); err != nil {
				return err
			}
		}
	}
	return nil
}

func statistics(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		return q.keyRows(t, func(k *key, seq int, c *schema.Column, order, cardinality, sub, null any) error {
			return q.emit("def", t.Database, t.Name, !k.unique, t.Database, k.name, uint64(seq), keyColumnName(c), order, cardinality, sub, nil, null,
				k.indexType(), "", k.comment, yesNo(!k.invisible), keyExpressionText(c))
		})
	})
}

func keyColumnUsage(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		rights := q.columnRights(t.Database, t.Name)
		for _, k := range keys(t) {
			if !k.unique {
				continue
			}
			for i, p := range k.parts {
				c := t.Column(p.Column)
				if isInternal(c) || rights.of(c.Name) == 0 {
					continue
				}
				if err := q.emit("def", t.Database, k.name, "def", t.Database, t.Name, c.Name, uint64(i+1), nil, nil, nil, nil); err != nil {
					return err
				}
			}
		}
		for _, k := range foreignKeys(t) {
			for j, id := range k.Columns {
				c, at := t.Column(id), uint64(j+1)
				if rights.of(c.Name) == 0 {
					continue
				}
				if err := q.emit("def", t.Database, k.Name, "def", t.Database, t.Name, c.Name, at, at, k.Database, k.Table, k.References[j]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func constraintType(k key) string {
	if k.name == "PRIMARY" {
		return "PRIMARY KEY"
	}
	return "UNIQUE"
}

func tableConstraints(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		for _, k := range keys(t) {
			if !k.unique {
				continue
			}
			if err := q.emit("def", t.Database, k.name, t.Database, t.Name, constraintType(k), "YES"); err != nil {
				return err
			}
		}
		for _, k := range foreignKeys(t) {
			if err := q.emit("def", t.Database, k.Name, t.Database, t.Name, "FOREIGN KEY", "YES"); err != nil {
				return err
			}
		}
		for i := range t.Checks {
			c := &t.Checks[i]
			if err := q.emit("def", t.Database, c.Name, t.Database, t.Name, "CHECK", yesNo(!c.NotEnforced)); err != nil {
				return err
			}
		}
		return nil
	})
}

func referentialConstraints(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		for _, k := range foreignKeys(t) {
			var unique any
			if parent, ok := q.snap.Table(k.Database, k.Table); ok {
				if ref, ok := schema.NewReference(t, k, parent); ok && ref.Parent != nil && !ref.Loose {
					unique = "PRIMARY"
					if ref.ParentIndex != nil {
						unique = ref.ParentIndex.Name
					}
				}
			}
			err := q.emit("def", t.Database, k.Name, "def", k.Database, unique, "NONE", k.OnUpdate.String(), k.OnDelete.String(), t.Name, k.Table)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func checkConstraints(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		for i := range t.Checks {
			c := &t.Checks[i]
			if err := q.emit("def", t.Database, c.Name, escapedText(c.Expr)); err != nil {
				return err
			}
		}
		return nil
	})
}

// escapedText is an expression as the columns of information_schema have it:
// MySQL escapes the quotes of its strings once more there.
func escapedText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

func constraintExtensions(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		attr := map[string]string{}
		for i := range t.Indexes {
			attr[strings.ToLower(t.Indexes[i].Name)] = indexAttributes(t, &t.Indexes[i])
		}
		for _, k := range keys(t) {
			if err := q.emit("def", t.Database, k.name, t.Name, nil, orNull(attr[strings.ToLower(k.name)])); err != nil {
				return err
			}
		}
		return nil
	})
}
