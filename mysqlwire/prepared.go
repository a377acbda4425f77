package mysqlwire

import (
	"strconv"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// statement is what the protocol keeps of a prepared statement.
type statement struct {
	params int
	// types are those of the last execution that sent types; nil before.
	types []paramType
	args  []Param // reused
	// long are the parameters sent by COM_STMT_SEND_LONG_DATA since the last
	// execution; nil without.
	long     map[uint16][]byte
	longSize int
	longErr  error // of the next execution
	memory   Memory
	cursor   *spool
}

func (s *statement) dropLong() {
	if s.longSize > 0 {
		s.memory.Release(longShare * int64(s.longSize))
	}
	s.long, s.longSize, s.longErr = nil, 0, nil
}

// longShare is what long parameters take for each of their bytes: they grow by
// copies.
const longShare = 2

func (s *statement) closeCursor() {
	if s.cursor != nil {
		s.cursor.close()
		s.cursor = nil
	}
}

// dropStatements forgets all statements of the connection.
func (c *conn) dropStatements() {
	for _, s := range c.stmts {
		s.closeCursor()
		s.dropLong()
	}
	c.stmts = nil
}

// paramDefinition is sent for each parameter in the answer to a prepare, which does not
// know its type.
var paramDefinition = Column{Name: "?", Type: schema.Type{ID: schema.TypeVarbinary, Collation: schema.CollationBinary}}

// prepare is COM_STMT_PREPARE. The answer:
//
//	00, id (4), columns (2), parameters (2), 00, warnings (2)
//	a definition per parameter, EOF
//	a definition per column, EOF
func (c *conn) prepare(text string) error {
	ps, err := c.sess.Prepare(c.ctx, text)
	if err != nil {
		return err
	}
	columns := 0
	if ps.Columns != nil {
		columns = len(ps.Columns.cols)
	}
	if ps.Params > 1<<16-1 || columns > 1<<16-1 {
		c.sess.CloseStatement(ps.ID)
		return sqlerr.Internal("prepared statement of %d parameters and %d columns", ps.Params, columns)
	}
	if c.stmts == nil {
		c.stmts = map[uint32]*statement{}
	}
	c.stmts[ps.ID] = &statement{params: ps.Params, memory: c.srv.cfg.Memory}

	c.result.next(false)
	start := c.begin()
	out := append(c.out, 0)
	out = appendUint32(out, ps.ID)
	out = appendUint16(out, uint16(columns))
	out = appendUint16(out, uint16(ps.Params))
	c.out = appendUint16(append(out, 0), clampWarnings(ps.Warnings))
	c.end(start)
	for range ps.Params {
		start := c.begin()
		c.out = appendColumn(c.out, &paramDefinition, schema.CollationBinary)
		c.end(start)
	}
	if ps.Params > 0 {
		c.definitionsEnd()
	}
	if columns > 0 {
		packets := ps.Columns.in(c.resultCollation()).encoded(c.resultCollation())
		c.writePackets(packets[headerLen+int(packets[0]):]) // without the count
		c.definitionsEnd()
	}
	return c.err
}

func (c *conn) definitionsEnd() {
	if !c.caps.has(capDeprecateEOF) {
		c.writeEOF(0, 0)
	}
}

// statement finds a statement by the id at the beginning of p.
func (c *conn) statement(p *payload, command string) (uint32, *statement, error) {
	id := p.uint32()
	if p.bad {
		return 0, nil, sqlerr.MalformedPacket()
	}
	s := c.stmts[id]
	if s == nil {
		return 0, nil, sqlerr.UnknownStatementHandler(strconv.FormatUint(uint64(id), 10), command)
	}
	return id, s, nil
}

// closeStatement is COM_STMT_CLOSE, which has no answer.
func (c *conn) closeStatement(arg []byte) {
	p := payload{b: arg}
	id, s, err := c.statement(&p, "mysqld_stmt_close")
	if err != nil {
		return
	}
	s.closeCursor()
	s.dropLong()
	delete(c.stmts, id)
	c.sess.CloseStatement(id)
}

// resetStatement is COM_STMT_RESET.
func (c *conn) resetStatement(arg []byte) error {
	p := payload{b: arg}
	_, s, err := c.statement(&p, "mysqld_stmt_reset")
	if err != nil {
		return err
	}
	s.closeCursor()
	s.dropLong()
	return c.result.OK(OK{})
}

// sendLongData is COM_STMT_SEND_LONG_DATA, which has no answer:
//
//	id (4), parameter (2), bytes
func (c *conn) sendLongData(arg []byte) {
	p := payload{b: arg}
	_, s, err := c.statement(&p, "mysqld_stmt_send_long_data")
	if err != nil {
		return
	}
	i := p.uint16()
	switch {
	case s.longErr != nil:
		return
	case p.bad:
		s.longErr = sqlerr.MalformedPacket()
	case int(i) >= s.params:
		s.longErr = sqlerr.WrongArguments("mysqld_stmt_send_long_data")
	case s.longSize+len(p.b) > c.maxPacket:
		s.dropLong()
		s.longErr = sqlerr.Unknown("Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
	default:
		if err := s.memory.Reserve(longShare * int64(len(p.b))); err != nil {
			s.dropLong()
			s.longErr = err
			return
		}
		if s.long == nil {
			s.long = map[uint16][]byte{}
		}
		s.longSize += len(p.b)
		s.long[i] = append(s.long[i], p.b...)
	}
}

// Flags of COM_STMT_EXECUTE.
const (
	executeReadOnlyCursor  = 0x01
	executeCursorMask      = 0x07
	executeParamCountAvail = 0x08
)

// execute is COM_STMT_EXECUTE:
//
//	id (4), flags (1), iterations (4), [count of parameters and attributes],
//	NULL bitmap, types follow (1), [type (2), name]…, values
func (c *conn) execute(arg []byte) error {
	p := payload{b: arg}
	id, s, err := c.statement(&p, "mysqld_stmt_execute")
	if err != nil {
		return err
	}
	s.closeCursor()
	defer s.dropLong()
	flags := p.uint8()
	p.uint32()
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	if s.longErr != nil {
		return s.longErr
	}
	if flags&executeCursorMask > executeReadOnlyCursor {
		return sqlerr.NotSupported("cursors for update and scrollable cursors")
	}
	args, err := s.readParams(&p, c.collation, c.caps.has(capQueryAttributes), flags&executeParamCountAvail != 0)
	if err != nil {
		return err
	}
	c.result.wantCursor = flags&executeCursorMask == executeReadOnlyCursor
	err = c.sess.Execute(c.ctx, id, args, &c.result)
	clear(s.args)
	if cursor := c.result.cursor; cursor != nil {
		s.cursor, c.result.cursor = cursor, nil
		if c.stmts[id] != s || err != nil {
			s.closeCursor()
		}
	}
	return err
}

// fetch is COM_STMT_FETCH:
//
//	id (4), rows (4)
func (c *conn) fetch(arg []byte) error {
	p := payload{b: arg}
	id, s, err := c.statement(&p, "mysqld_stmt_fetch")
	if err != nil {
		return err
	}
	n := p.uint32()
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	if s.cursor == nil {
		return sqlerr.NoOpenCursor(id)
	}
	last := false
	for ; n > 0 && !last && c.err == nil; n-- {
		last, err = c.fetchRow(s.cursor)
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			s.closeCursor()
			return err
		}
	}
	flags := StatusCursorExists
	if last {
		flags = StatusLastRowSent
		s.closeCursor()
	}
	c.result.next(false)
	c.writeEOF(0, flags)
	return c.err
}

// fetchRow writes the next row of a cursor, a long one as it is read.
func (c *conn) fetchRow(s *spool) (last bool, err error) {
	n, last, err := s.length()
	if err != nil || last {
		return last, err
	}
	if n < longValue {
		start := c.begin()
		if err := s.read(n, func(part []byte) { c.out = append(c.out, part...) }); err != nil {
			c.out = c.out[:start]
			return false, err
		}
		c.end(start)
		return false, nil
	}
	out := longPacket{p: &c.wire, left: n}
	if err := s.read(n, out.write); err != nil {
		if c.err == nil { // a part of the row is on its way
			c.srv.cfg.Logger.Error("error within a row of a cursor", "connection", c.id, "error", err)
			c.err = err
		}
		return false, err
	}
	return false, out.end()
}
