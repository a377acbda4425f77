package mysqlwire

import (
	"bytes"
	"errors"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// command runs the command in b and answers it; false ends the connection.
// A panic is answered with 1105 and ends the connection, not the server.
func (c *conn) command(b []byte) (keep bool) {
	defer func() {
		if r := recover(); r != nil {
			c.srv.logPanic(c, r)
			keep = false
			c.result.dropSpools()
			if c.result.state != resultDone {
				c.writeError(sqlerr.Bug())
				_ = c.flush()
			}
		}
	}()
	if len(b) == 0 {
		b = []byte{0}
	}
	c.result.reset(b[0] == comStmtExecute)
	keep = c.run(b[0], b[1:])
	if keep {
		c.refreshLimits()
	}
	return keep
}

// run dispatches a command.
func (c *conn) run(cmd byte, arg []byte) (keep bool) {
	if c.sandboxer != nil && c.sandboxer.Sandboxed() && !runsInSandbox(cmd) {
		return c.finish(sqlerr.MustChangePassword())
	}
	switch cmd {
	case comQuery:
		return c.finish(c.query(arg))
	case comStmtExecute:
		return c.finish(c.execute(arg))
	case comStmtPrepare:
		return c.finish(c.prepare(statementText(arg)))
	case comStmtClose:
		c.closeStatement(arg)
		return true
	case comStmtSendLongData:
		c.sendLongData(arg)
		return true
	case comStmtReset:
		return c.finish(c.resetStatement(arg))
	case comStmtFetch:
		return c.finish(c.fetch(arg))
	case comQuit:
		c.quit = true
		return false
	case comPing:
		return c.finish(c.result.OK(OK{}))
	case comChangeUser:
		if err := c.changeUser(arg); err != nil {
			_ = c.fail(err)
			return false
		}
		return c.finish(nil)
	}
	return c.finish(c.runRare(cmd, arg))
}

// runsInSandbox reports the commands that a session with an expired password may run; it
// looks itself at the statements of COM_QUERY.
func runsInSandbox(cmd byte) bool {
	switch cmd {
	case comQuery, comStmtClose, comStmtSendLongData, comPing, comQuit:
		return true
	}
	return false
}

func (c *conn) runRare(cmd byte, arg []byte) error {
	switch cmd {
	case comInitDB:
		return c.okAfter(c.sess.UseDatabase(c.ctx, string(arg)))
	case comFieldList:
		return c.fieldList(arg)
	case comStatistics:
		return c.statistics()
	case comProcessKill:
		p := payload{b: arg}
		id := p.uint32()
		if p.bad {
			return sqlerr.MalformedPacket()
		}
		return c.okAfter(c.sess.KillConnection(c.ctx, uint64(id)))
	case comDebug:
		return c.eof()
	case comRefresh:
		return c.refresh(arg)
	case comSetOption:
		return c.setOption(arg)
	case comResetConnection:
		c.dropStatements()
		return c.okAfter(c.sess.Reset(c.ctx))
	}
	return sqlerr.UnknownCommand()
}

// finish sees to it that the command has one final answer.
func (c *conn) finish(err error) (keep bool) {
	w := &c.result
	if lerr := w.endLocal(); err == nil {
		err = lerr
	}
	w.dropSpools()
	if c.err != nil || errors.Is(err, errClientGone) {
		return false
	}
	if err == nil && w.state != resultDone {
		err = sqlerr.Internal("a command ended without its result")
	}
	if err != nil {
		if w.state == resultDone {
			c.srv.cfg.Logger.Error("error after the final result", "connection", c.id, "error", err)
			return false
		}
		w.state = resultDone
		if w.broken {
			_ = c.fail(err)
			return false
		}
		c.writeError(errorOf(c.ctx, err))
	}
	return true
}

func (c *conn) okAfter(err error) error {
	if err != nil {
		return err
	}
	return c.result.OK(OK{})
}

// refresh runs the FLUSH statement that COM_REFRESH is.
func (c *conn) refresh(arg []byte) error {
	p := payload{b: arg}
	flags := p.uint8()
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	var what []string
	for _, f := range [...]struct {
		flag byte
		what string
	}{{0x01, "PRIVILEGES"}, {0x02, "LOGS"}, {0x08, "HOSTS"}, {0x10, "STATUS"}} {
		if flags&f.flag != 0 {
			what = append(what, f.what)
		}
	}
	if what == nil { // tables and threads
		what = append(what, "TABLES")
	}
	return c.sess.Query(c.ctx, "FLUSH "+strings.Join(what, ", "), &c.result)
}

// eof answers a command with an EOF packet alone.
func (c *conn) eof() error {
	c.result.next(false)
	c.writeEOF(0, 0)
	return c.err
}

func (c *conn) query(arg []byte) error {
	p := payload{b: arg}
	if c.caps.has(capQueryAttributes) {
		skipAttributes(&p)
		if p.bad {
			return sqlerr.MalformedPacket()
		}
	}
	return c.sess.Query(c.ctx, statementText(p.b), &c.result)
}

// statementText is a text without what MySQL leaves out at its end: the semicolon, and
// the byte that ends a string in C, which clients such as mysqlslap count.
func statementText(b []byte) string { return string(bytes.TrimRight(b, "\x00; \t\r\n\v\f")) }

// skipAttributes reads past the query attributes before a text:
//
//	count, sets (length-encoded, 1); with attributes: NULL bitmap, 01,
//	type (2) and name of each, values
func skipAttributes(p *payload) {
	count := p.lenEnc()
	p.lenEnc()
	if count == 0 || p.bad {
		return
	}
	if count > uint64(len(p.b)) {
		p.bad = true
		return
	}
	nulls := p.take((count + 7) / 8)
	if p.uint8() != 1 {
		p.bad = true
		return
	}
	types := make([]paramType, count)
	readParamTypes(p, types, true)
	for i := range types {
		if p.bad {
			return
		}
		if !types[i].isNull(nulls, i) {
			skipParam(p, types[i])
		}
	}
}

// fieldList answers with definitions of a table's columns, each followed by
// its default. Clients do not look at that one; it is always NULL.
func (c *conn) fieldList(arg []byte) error {
	p := payload{b: arg}
	table := string(p.nulBytes())
	wildcard := string(p.nulOrRest())
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	cols, err := c.sess.FieldList(c.ctx, table, wildcard)
	if err != nil {
		return err
	}
	coll := c.resultCollation()
	for i := range cols {
		start := c.begin()
		c.out = append(appendColumn(c.out, &cols[i], coll), nullCell)
		c.end(start)
	}
	return c.eof()
}

func (c *conn) statistics() error {
	line := c.sess.Statistics()
	c.result.next(false)
	start := c.begin()
	c.out = append(c.out, line...)
	c.end(start)
	return c.err
}

func (c *conn) setOption(arg []byte) error {
	p := payload{b: arg}
	option := p.uint16()
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	ms, ok := c.sess.(MultiStatementer)
	if option > 1 || !ok {
		return sqlerr.UnknownCommand()
	}
	ms.SetMultiStatements(option == 0)
	return c.eof()
}
