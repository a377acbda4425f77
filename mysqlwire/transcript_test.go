package mysqlwire

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// attempt is a login that fails.
type attempt struct {
	user, plugin, password string // plugin: of the first answer, "" for a client without CLIENT_PLUGIN_AUTH
	tls                    bool
	requestKey             bool
}

// transcript is what a server says in an attempt, after its greeting: of each
// packet sequence number, first byte and length, and of errors the number.
func (a *attempt) transcript(t *testing.T, addr string) string {
	t.Helper()
	c := dialGreeting(t, addr)
	caps := rawCaps
	if a.plugin == "" {
		caps &^= capPluginAuth
	}
	if a.tls {
		caps |= capSSL
		c.send(c.loginPacket(caps, "", nil, "", "")[:32])
		tc := tls.Client(c.nc, &tls.Config{InsecureSkipVerify: true})
		if err := tc.Handshake(); err != nil {
			t.Fatal(err)
		}
		c.nc = tc
	}
	answer := func(plugin string) []byte {
		switch {
		case a.password == "":
			return nil
		case plugin == PluginCachingSHA2:
			return sha2Answer(c.salt, a.password)
		}
		return nativeAnswer(c.salt, a.password)
	}
	c.send(c.loginPacket(caps, a.user, answer(a.plugin), "d", a.plugin))
	var said []string
	for {
		b, err := c.read()
		if err != nil {
			return strings.Join(append(said, "end"), " ")
		}
		line := fmt.Sprintf("%d:%02x:%d", c.seq-1, b[0], len(b))
		switch {
		case b[0] == authSwitch:
			plugin, _, _ := strings.Cut(string(b[1:]), "\x00")
			line += plugin
			c.send(answer(plugin))
		case b[0] == authMore && b[1] == sha2Full && a.requestKey:
			c.send([]byte{sha2RequestKey})
		case b[0] == authMore:
			c.send(append([]byte(a.password), 0))
		case b[0] == 0:
			c.nc.Close() // it succeeds
		case b[0] == 0xff:
			line += fmt.Sprint(binary.LittleEndian.Uint16(b[1:]))
			c.nc.Close()
		}
		said = append(said, line)
	}
}

// TestTranscripts: a client without the password cannot learn from the packets
// whether there is an account.
func TestTranscripts(t *testing.T) {
	cert := selfSigned(t)
	s, b, addr := startServer(t, Config{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	b.accounts["x-native"] = Account{User: "x-native", Plugin: PluginNative, AuthString: HashNative("secret")}
	b.accounts["y-native"] = Account{User: "y-native", Plugin: PluginNative}
	b.accounts["x-----sha"] = Account{User: "x-----sha", Plugin: PluginCachingSHA2, AuthString: HashCachingSHA2("secret", nil)}
	b.accounts["y-----sha"] = Account{User: "y-----sha", Plugin: PluginCachingSHA2}
	s.cache.put(b.accounts["x-----sha"].AuthString, sha2Digest("secret"))
	seen := map[string]bool{}
	for _, tls := range []bool{false, true} {
		for _, plugin := range []string{PluginNative, PluginCachingSHA2, ""} {
			for _, password := range []string{"wrong", "", strings.Repeat("long", 60), strings.Repeat("long", 70)} {
				for _, requestKey := range []bool{false, true} {
					for _, users := range [][]string{{"z-native", "x-native", "y-native"}, {"z-----sha", "x-----sha", "y-----sha"}} {
						s.failed.init()
						a := attempt{plugin: plugin, password: password, tls: tls, requestKey: requestKey}
						want := ""
						for i, user := range users {
							if i == 2 && password == "" {
								continue // which is right
							}
							a.user = user
							got := a.transcript(t, addr)
							if i == 0 {
								want = got
							}
							if got != want {
								t.Errorf("%+v: %s, and %s for an unknown user", a, got, want)
							}
							seen[got] = true
						}
					}
				}
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d different transcripts", len(seen))
	}
}

// TestLoginTimes: nor can it learn it from the time.
func TestLoginTimes(t *testing.T) {
	s, b, addr := startServer(t, Config{})
	b.accounts["blank"] = Account{User: "blank", Plugin: PluginCachingSHA2}
	least := map[string]time.Duration{}
	users := []string{"unknown", "sha", "blank"}
	for range 15 {
		for _, user := range users {
			s.failed.init()
			a := attempt{user: user, plugin: PluginCachingSHA2, password: "wrong"}
			began := time.Now()
			a.transcript(t, addr)
			if d := time.Since(began); least[user] == 0 || d < least[user] {
				least[user] = d
			}
		}
	}
	all := []time.Duration{least["unknown"], least["sha"], least["blank"]}
	if slices.Max(all) > 2*slices.Min(all) {
		t.Errorf("the shortest of 15 logins: %v", least)
	}
}
