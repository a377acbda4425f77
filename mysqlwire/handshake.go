package mysqlwire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxHandshakePacket bounds what an unauthenticated client can send at once:
// 64 KiB of attributes and the rest.
const maxHandshakePacket = 128 << 10

// firstByteTimeout is the time for the first byte after the greeting, if that of
// the whole login is not shorter.
const firstByteTimeout = 3 * time.Second

// maxUserLen bounds, in bytes, the names that reach the log. It is more than MySQL's 32
// characters, so that longer names are answered as unknown users.
const maxUserLen = 256

// greeting writes the initial handshake packet, version 10:
//
//	0a, version NUL, connection id (4), scramble[0:8], 00,
//	capabilities low (2), collation (1), status (2), capabilities high (2),
//	length of scramble with its NUL (1), 10 zero bytes, scramble[8:20], 00,
//	plugin NUL
func (c *conn) greeting() error {
	caps := serverCaps
	if c.offered != nil {
		caps |= capSSL
	}
	start := c.begin()
	out := append(c.out, 10)
	out = append(out, c.srv.cfg.Version...)
	out = append(out, 0)
	out = appendUint32(out, uint32(c.id))
	out = append(out, c.scramble[:8]...)
	out = append(out, 0)
	out = appendUint16(out, uint16(caps))
	out = append(out, byte(schema.CollationUTF8MB40900AICI))
	out = appendUint16(out, uint16(StatusAutocommit))
	out = appendUint16(out, uint16(caps>>16))
	out = append(out, scrambleLen+1)
	out = append(out, make([]byte, 10)...)
	out = append(out, c.scramble[8:]...)
	out = append(out, 0)
	out = append(out, c.srv.cfg.DefaultPlugin...)
	c.out = append(out, 0)
	c.end(start)
	return c.flush()
}

// login is what a client says of itself, in a handshake response or
// COM_CHANGE_USER.
type login struct {
	caps      capability
	collation schema.CollationID
	user      string
	database  string
	plugin    string
	answer    []byte // shares the packet
	attrs     [][2]string
	changes   bool // COM_CHANGE_USER
	account   Account
	refusal   string // for the logs
}

// parseLogin reads a handshake response:
//
//	capabilities (4), maximal packet (4), collation (1), 23 bytes,
//	user NUL, answer with length, [database NUL], [plugin NUL], [attributes]
func parseLogin(b []byte, offered capability) (login, bool) {
	p := payload{b: b}
	l := login{caps: capability(p.uint32())}
	l.caps &= offered
	p.take(4)
	l.collation = collationOf(uint16(p.uint8()))
	p.take(23)
	l.user = string(p.nulBytes())
	switch {
	case l.caps.has(capPluginAuthLenEnc):
		l.answer = p.lenEncBytes()
	case l.caps.has(capSecureConnection):
		l.answer = p.take(uint64(p.uint8()))
	default:
		l.answer = p.nulOrRest()
	}
	// Some clients set the flag and end here.
	if l.caps.has(capConnectWithDB) && len(p.b) > 0 {
		l.database = string(p.nulOrRest())
	}
	if l.caps.has(capPluginAuth) {
		l.plugin = string(p.nulOrRest())
	}
	if l.caps.has(capConnectAttrs) && len(p.b) > 0 {
		l.attrs = parseAttributes(&p)
	}
	return l, !p.bad
}

func collationOf(id uint16) schema.CollationID {
	if id == 0 {
		return schema.CollationUTF8MB40900AICI
	}
	return schema.CollationID(id)
}

// maxAttributes is how many bytes of attributes are kept of a connection, as by
// MySQL's performance_schema_session_connect_attrs_size.
const maxAttributes = 512

// parseAttributes reads length-encoded keys and values, which follow their total
// length. Where there are too many, the attribute _truncated says how many bytes are
// left out.
func parseAttributes(p *payload) (attrs [][2]string) {
	all := payload{b: p.lenEncBytes()}
	size, lost := 0, 0
	for len(all.b) > 0 && !all.bad {
		k := string(all.lenEncBytes())
		v := string(all.lenEncBytes())
		if all.bad {
			break
		}
		if size+lost+len(k)+len(v) > maxAttributes {
			lost += len(k) + len(v)
			continue
		}
		size += len(k) + len(v)
		attrs = append(attrs, [2]string{k, v})
	}
	p.bad = p.bad || all.bad
	if lost > 0 {
		attrs = append(attrs, [2]string{"_truncated", strconv.Itoa(lost)})
	}
	return attrs
}

// handshake greets the client, changes to TLS if the client requests it, and
// authenticates it. An error has been sent to the client, unless that is gone.
func (c *conn) handshake() error {
	c.srv.mu.Lock()
	timeout := c.srv.limits.ConnectTimeout
	c.srv.mu.Unlock()
	now := time.Now()
	_ = c.raw.SetWriteDeadline(now.Add(timeout))
	_ = c.raw.SetReadDeadline(now.Add(min(timeout, firstByteTimeout)))
	c.seq, c.offered, c.loginTime = 0, c.srv.tls.Load(), timeout
	if err := c.greeting(); err != nil {
		return err
	}
	if err := c.firstPacket(now.Add(timeout)); err != nil {
		return err
	}
	if !c.srv.enter(&c.entrance.talking, c) {
		return errClientGone
	}
	b, err := c.readPacket(maxHandshakePacket)
	if err != nil {
		return c.fail(err)
	}
	if c.offered != nil && len(b) == 32 && asksTLS(b) {
		if err := c.startTLS(); err != nil {
			return err
		}
		if b, err = c.readPacket(maxHandshakePacket); err != nil {
			return c.fail(err)
		}
	}
	offered := serverCaps
	if c.tls != nil {
		offered |= capSSL
	}
	l, ok := parseLogin(b, offered)
	if !ok || !l.caps.has(capProtocol41) {
		return c.fail(sqlerr.HandshakeError())
	}
	c.caps = l.caps
	if err := c.login(&l); err != nil {
		return c.fail(err)
	}
	if err := c.writeOK(0x00, OK{}, 0); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	_ = c.raw.SetDeadline(time.Time{})
	if c.caps.has(capCompress) {
		c.startCompression()
	}
	return nil
}

// firstPacket waits until the read buffer has the client's first packet, or as
// much of it as it holds.
func (c *conn) firstPacket(deadline time.Time) error {
	if err := c.fill(1); err != nil {
		return err
	}
	_ = c.raw.SetReadDeadline(deadline)
	if err := c.fill(headerLen); err != nil {
		return err
	}
	h := c.buf[c.r:]
	n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if n > maxHandshakePacket {
		return nil // which is refused
	}
	return c.fill(min(headerLen+n, len(c.buf)))
}

// asksTLS recognises the first 32 bytes of a handshake response, sent alone:
// the request to go on with TLS.
func asksTLS(b []byte) bool {
	p := payload{b: b}
	return capability(p.uint32()).has(capSSL)
}

// startTLS puts TLS between the socket and the packets. What the client has sent after
// its request is the beginning of TLS, never of a packet.
func (c *conn) startTLS() error {
	tc := tls.Server(&prefixConn{Conn: c.raw, prefix: append([]byte(nil), c.buf[c.r:c.w]...)}, c.offered)
	c.r, c.w = 0, 0
	c.srv.count(TLSBegun)
	if err := tc.HandshakeContext(c.ctx); err != nil {
		return gone("TLS handshake", err)
	}
	c.srv.count(TLSMade)
	st := tc.ConnectionState()
	c.tls = &st
	c.src, c.dst = tc, tc
	c.tlsConn = tc
	return nil
}

// prefixConn is a connection of which some bytes have been read already.
type prefixConn struct {
	net.Conn
	prefix []byte
}

// Read implements io.Reader.
func (p *prefixConn) Read(b []byte) (int, error) {
	if len(p.prefix) > 0 {
		n := copy(b, p.prefix)
		p.prefix = p.prefix[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

// login authenticates l and makes its session.
func (c *conn) login(l *login) error {
	info := ConnInfo{
		ID: c.id, User: l.user, RemoteAddr: c.raw.RemoteAddr(),
		Database: l.database, Collation: l.collation, Attributes: l.attrs, TLS: c.tls,
		MultiStatements: c.caps.has(capMultiStatements),
		FoundRows:       c.caps.has(capFoundRows),
		LocalFiles:      c.localAllowed(),
		Interactive:     c.caps.has(capInteractive),
		ChangesUser:     l.changes,
		Kill:            c.kill,
	}
	sess, err := c.admit(l, &info)
	if err != nil {
		if refused := c.srv.cfg.LoginRefused; refused != nil {
			info.Account = l.account
			r := RefusedLogin{Info: info, Reason: l.refusal}
			if errors.Is(err, errClientGone) {
				r.Reason = "the client has gone"
			} else {
				r.Err = errorOf(c.ctx, err)
			}
			refused(r)
		}
		return err
	}
	c.setSession(sess, l.collation)
	return nil
}

// admit is login without its consequences.
func (c *conn) admit(l *login, info *ConnInfo) (Session, error) {
	if len(l.user) > maxUserLen {
		return nil, sqlerr.HandshakeError()
	}
	if !c.clear() && c.srv.requiresSecure() {
		return nil, sqlerr.InsecureTransport()
	}
	acct, err := c.authenticate(l)
	if err != nil {
		return nil, err
	}
	if err := c.srv.seat(c, &acct); err != nil {
		return nil, err
	}
	c.user = l.user
	info.Account = acct
	return c.srv.backend.Connect(c.ctx, *info)
}

func (c *conn) localAllowed() bool {
	return c.caps.has(capLocalFiles) && !c.srv.cfg.DisableLocalInfile
}

// changeUser is COM_CHANGE_USER:
//
//	user NUL, length (1) answer, database NUL, collation (2), plugin NUL,
//	attributes
//
// A failure ends the connection, as in MySQL.
func (c *conn) changeUser(b []byte) error {
	p := payload{b: b}
	l := login{caps: c.caps, user: string(p.nulBytes()), changes: true}
	l.answer = p.take(uint64(p.uint8()))
	l.database = string(p.nulOrRest())
	l.collation = c.collation
	if len(p.b) > 0 {
		l.collation = collationOf(p.uint16())
	}
	if len(p.b) > 0 && c.caps.has(capPluginAuth) {
		l.plugin = string(p.nulOrRest())
	}
	if len(p.b) > 0 && c.caps.has(capConnectAttrs) {
		l.attrs = parseAttributes(&p)
	}
	if p.bad {
		return sqlerr.MalformedPacket()
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(c.loginTime))
	old := c.sess
	c.sess = nil
	c.dropStatements()
	c.closeSession(old)
	err := c.login(&l)
	_ = c.raw.SetReadDeadline(time.Time{})
	if err != nil {
		return err
	}
	c.result.reset(false)
	return c.result.OK(OK{})
}

var _ io.Reader = (*prefixConn)(nil)
