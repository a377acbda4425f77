package infoschema

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
)

// partitionClause is the PARTITION BY of a table in the form of SHOW CREATE TABLE, ""
// without one. Names have quotes only where they need them, as in MySQL.
func partitionClause(t *schema.Table) string {
	p := t.Partitioning
	if p == nil {
		return ""
	}
	var b strings.Builder
	version := "50100"
	if p.ByColumns && p.Kind != schema.PartitionKey {
		version = "50500"
	}
	b.WriteString("\n/*!" + version + " PARTITION BY ")
	if p.Linear {
		b.WriteString("LINEAR ")
	}
	b.WriteString(p.Kind.String())
	switch {
	case !p.ByColumns:
		b.WriteString(" (" + p.Expr + ")")
	case p.OfKey:
		b.WriteString(" ()")
	default:
		if p.Kind != schema.PartitionKey {
			b.WriteString("  COLUMNS")
		} else {
			b.WriteString(" ")
		}
		names := make([]string, len(p.Reads))
		for i, id := range p.Reads {
			names[i] = bareName(t.Column(id).Name)
		}
		b.WriteString("(" + strings.Join(names, ",") + ")")
	}
	if !p.Named {
		b.WriteString("\nPARTITIONS " + strconv.Itoa(len(p.Partitions)) + " */")
		return b.String()
	}
	for i := range p.Partitions {
		x := &p.Partitions[i]
		if i == 0 {
			b.WriteString("\n(")
		} else {
			b.WriteString(",\n ")
		}
		b.WriteString("PARTITION " + bareName(x.Name))
		switch p.Kind {
		case schema.PartitionRange:
			b.WriteString(" VALUES LESS THAN ")
			if text := partitionText(t, x.Less); text == "MAXVALUE" && !p.ByColumns {
				b.WriteString(text)
			} else {
				b.WriteString("(" + text + ")")
			}
		case schema.PartitionList:
			b.WriteString(" VALUES IN (" + partitionList(t, x) + ")")
		}
		if x.MaxRows > 0 {
			b.WriteString(" MAX_ROWS = " + strconv.FormatUint(x.MaxRows, 10))
		}
		if x.MinRows > 0 {
			b.WriteString(" MIN_ROWS = " + strconv.FormatUint(x.MinRows, 10))
		}
		if x.Comment != "" {
			b.WriteString(" COMMENT = " + quoteComment(x.Comment))
		}
		b.WriteString(" ENGINE = " + engineName(t))
	}
	b.WriteString(") */")
	return b.String()
}

// bareName is a name with quotes only where it needs them.
func bareName(s string) string { return quoting{plain: true}.name(s) }

// partitionText is a list of values in SQL.
func partitionText(t *schema.Table, list []schema.PartitionValue) string {
	out := make([]string, len(list))
	for i, v := range list {
		switch {
		case v.Max:
			out[i] = "MAXVALUE"
		case v.Null:
			out[i] = "NULL"
		default:
			out[i] = string(v.Text)
			if t.Partitioning.ByColumns {
				out[i] = valueText(t.Column(t.Partitioning.Reads[i]).Type, v.Text)
			}
		}
	}
	return strings.Join(out, ",")
}

func valueText(t schema.Type, text []byte) string {
	switch {
	case t.IsInteger():
		return string(text)
	case t.IsBinary() && len(text) > 0:
		return "0x" + hex.EncodeToString(text)
	}
	return quote(string(text))
}

// partitionList are the values of a partition of LIST in SQL.
func partitionList(t *schema.Table, x *schema.Partition) string {
	out := make([]string, len(x.In))
	for i, in := range x.In {
		out[i] = partitionText(t, in)
		if len(in) > 1 {
			out[i] = "(" + out[i] + ")"
		}
	}
	return strings.Join(out, ",")
}

// partitionMethod is PARTITION_METHOD.
func partitionMethod(p *schema.Partitioning) string {
	text := p.Kind.String()
	switch {
	case p.Linear:
		text = "LINEAR " + text
	case p.ByColumns && p.Kind != schema.PartitionKey:
		text += " COLUMNS"
	}
	return text
}

// partitionExpression is PARTITION_EXPRESSION; that of KEY () are the columns of the
// key.
func partitionExpression(t *schema.Table) any {
	p := t.Partitioning
	if !p.ByColumns {
		return escapedText(p.Expr)
	}
	names := make([]string, len(p.Reads))
	for i, id := range p.Reads {
		names[i] = quoteName(t.Column(id).Name)
	}
	return strings.Join(names, ",")
}

// partitions has one line for each partition, and for each table without any.
func partitions(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		created := time.Unix(t.CreatedUnix, 0)
		size, index := q.server.TableSize(q.ctx, t)
		if t.Partitioning == nil {
			rows, data := uint64(max(q.server.TableRows(q.ctx, t), 0)), uint64(size)
			return q.emit("def", t.Database, t.Name, nil, nil, nil, nil, nil, nil, nil, nil, nil, rows, average(data, rows), data, uint64(0), uint64(index), uint64(0),
				created, nil, nil, nil, "", nil, nil)
		}
		p := t.Partitioning
		for i := range p.Partitions {
			x := &p.Partitions[i]
			var description any
			switch p.Kind {
			case schema.PartitionRange:
				description = partitionText(t, x.Less)
			case schema.PartitionList:
				description = partitionList(t, x)
			}
			n, size := q.server.PartitionSize(q.ctx, t, x.Number)
			rows, data := uint64(max(n, 0)), uint64(size)
			err := q.emit("def", t.Database, t.Name, x.Name, nil, uint64(i+1), nil, partitionMethod(p), nil, partitionExpression(t), nil, description,
				rows, average(data, rows), data, uint64(0), uint64(index)/uint64(len(p.Partitions)), uint64(0), created, nil, nil, nil, x.Comment, "default", nil)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func average(bytes, rows uint64) uint64 {
	if rows == 0 {
		return 0
	}
	return bytes / rows
}
