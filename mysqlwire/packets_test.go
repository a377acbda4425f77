package mysqlwire

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPackets runs testdata/packets: what the server answers to commands, packet by
// packet, with the sequence numbers.
//
//	connect [with=(…)]   a new connection, with further capabilities
//	query, prepare, use, fields     a command with a text
//	execute id=n         the parameters of a prepared statement, in hex
//	ping, statistics, reset-connection, reset id=n, option number=n
func TestPackets(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	var c *rawClient
	datadriven.RunTest(t, "testdata/packets", func(t *testing.T, d *datadriven.TestData) string {
		text := []byte(strings.TrimSpace(d.Input))
		number := func(key string) []byte {
			var n int
			d.ScanArgs(t, key, &n)
			return appendUint32(nil, uint32(n))
		}
		switch d.Cmd {
		case "connect":
			c = dialGreeting(t, addr)
			c.send(c.loginPacket(rawCaps|capabilitiesOf(t, d), "root", nil, "d", PluginCachingSHA2))
			b, err := c.read()
			if err != nil {
				t.Fatal(err)
			}
			return packetText(c.seq-1, b)
		case "query":
			c.command(comQuery, text...)
		case "prepare":
			c.command(comStmtPrepare, text...)
		case "use":
			c.command(comInitDB, text...)
		case "fields":
			c.command(comFieldList, append(text, 0)...)
		case "execute":
			params, err := hex.DecodeString(strings.Join(strings.Fields(d.Input), ""))
			if err != nil {
				t.Fatal(err)
			}
			c.command(comStmtExecute, append(append(number("id"), 0, 1, 0, 0, 0), params...)...)
		case "reset":
			c.command(comStmtReset, number("id")...)
		case "option":
			c.command(comSetOption, number("number")[:2]...)
		case "reset-connection":
			c.command(comResetConnection)
		case "statistics":
			c.command(comStatistics)
		case "ping":
			c.command(comPing)
		default:
			t.Fatalf("no command %s", d.Cmd)
		}
		return c.answer()
	})
}

func capabilitiesOf(t *testing.T, d *datadriven.TestData) (caps capability) {
	known := map[string]capability{"deprecate-eof": capDeprecateEOF, "session-track": capSessionTrack, "multi-statements": capMultiStatements}
	for _, a := range d.CmdArgs {
		for _, name := range a.Vals {
			if known[name] == 0 {
				t.Fatalf("no capability %s", name)
			}
			caps |= known[name]
		}
	}
	return caps
}

// answer is all that comes before the answer to a ping that is sent after the command:
// that begins with the sequence number 1 again.
func (c *rawClient) answer() string {
	c.t.Helper()
	ping := make([]byte, 4, 5)
	putHeader(ping, 1, 0)
	if _, err := c.nc.Write(append(ping, comPing)); err != nil {
		c.t.Fatal(err)
	}
	var out strings.Builder
	for n := 0; ; n++ {
		var h [4]byte
		if _, err := io.ReadFull(c.nc, h[:]); err != nil {
			c.t.Fatal(err)
		}
		b := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
		if _, err := io.ReadFull(c.nc, b); err != nil {
			c.t.Fatal(err)
		}
		if h[3] == 1 && n > 0 {
			return out.String()
		}
		out.WriteString(packetText(h[3], b))
	}
}

func packetText(seq uint8, b []byte) string {
	return fmt.Sprintf("%d %+q\n", seq, b)
}
