package bind

import (
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// outFile binds INTO OUTFILE and INTO DUMPFILE: 1083, 1115.
func outFile(f *parser.IntoFile) (*logical.OutFile, error) {
	if f.Option == nil {
		return nil, internalf("INTO OUTFILE without a file")
	}
	out := &logical.OutFile{Path: f.Option.FileName, Dump: f.Dump, Charset: f.Charset,
		FieldsTerminated: "\t", FieldsEscaped: `\`, LinesTerminated: "\n"}
	if f.Charset != "" {
		if _, err := define.CharsetCollation(f.Charset, ""); err != nil {
			return nil, err
		}
	}
	if i := f.Option.FieldsInfo; i != nil {
		if i.DefinedNullBy != nil {
			return nil, sqlerr.NotSupported("DEFINED NULL BY")
		}
		set(&out.FieldsTerminated, i.Terminated)
		set(&out.FieldsEnclosed, i.Enclosed)
		set(&out.FieldsEscaped, i.Escaped)
		out.OptionallyEnclosed = i.OptEnclosed
	}
	if len(out.FieldsEnclosed) > 1 || len(out.FieldsEscaped) > 1 {
		return nil, sqlerr.WrongFieldTerminators()
	}
	if out.FieldsTerminated == "" && out.FieldsEnclosed == "" && !f.Dump {
		return nil, sqlerr.NotSupported("INTO OUTFILE with fields of fixed width")
	}
	if l := f.Option.LinesInfo; l != nil {
		set(&out.LinesStarting, l.Starting)
		set(&out.LinesTerminated, l.Terminated)
	}
	return out, nil
}
