package expr

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// modeSession has a block_encryption_mode.
type modeSession struct {
	*testSession
	mode string
}

func (s *modeSession) SysVar(_, name string) (value.Datum, schema.Type, error) {
	if name == "block_encryption_mode" {
		return value.String(s.mode), textType(20, schema.CollationUTF8MB40900AICI), nil
	}
	return s.testSession.SysVar("", name)
}

// TestBlockModes compares the modes of AES with the vectors of NIST SP 800-38A, and
// decrypts what they encrypt.
func TestBlockModes(t *testing.T) {
	unhex := func(s string) string {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	plain := unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
	iv := unhex("000102030405060708090a0b0c0d0e0f")
	keys := map[string]string{"128": unhex("2b7e151628aed2a6abf7158809cf4f3c"), "192": unhex("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"), "256": unhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")}
	eval := func(mode, name string, args ...any) value.Datum {
		c := testCtx(nil)
		c.Session = &modeSession{c.Session.(*testSession), mode}
		d, err := EvalRow(c, call(name, args...), nil)
		if err != nil {
			t.Fatal(mode, name, err)
		}
		return d.Clone()
	}
	for _, c := range []struct{ mode, want string }{
		{"aes-128-ecb", "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"}, {"aes-128-cbc", "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"},
		{"aes-128-cfb1", "68b3"}, {"aes-128-cfb8", "3b79424c9c0dd436bace9e0ed4586a4f32b9"}, {"aes-128-cfb128", "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"}, {"aes-128-ofb", "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"},
		{"aes-192-cfb128", "cdc80d6fddf18cab34c25909c99a417467ce7f7f81173621961a2b70171d3d7a"}, {"aes-256-ofb", "dc7e84bfda79164b7ecd8486985d38604febdc6740d20b3ac88f6ad82a4fb08d"}, {"aes-256-cfb8", "dc1f1a8520a64db55fcc8ac554844e889700"},
	} {
		parts := strings.Split(c.mode, "-")
		got := eval(c.mode, "aes_encrypt", bin(plain), bin(keys[parts[1]]), bin(iv))
		if want := unhex(c.want); !strings.HasPrefix(got.Str(), want) {
			t.Errorf("%s: %x, want %x", c.mode, got.Bytes(), want)
		}
	}
	for _, bits := range []string{"128", "192", "256"} {
		for _, how := range []string{"ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb"} {
			for n := range 34 {
				mode, text := "aes-"+bits+"-"+how, plain+plain
				args := []any{bin(text[:n]), bin("a key of more than thirty-two bytes"), bin(iv)}
				secret := eval(mode, "aes_encrypt", args...)
				args[0] = bin(secret.Str())
				if got := eval(mode, "aes_decrypt", args...); got.Str() != text[:n] {
					t.Errorf("%s: %d bytes are decrypted to %x, want %x", mode, n, got.Bytes(), text[:n])
				}
				if stream := how != "ecb" && how != "cbc"; stream && len(secret.Bytes()) != n || !stream && len(secret.Bytes()) != n/16*16+16 || n > 8 && bytes.Contains(secret.Bytes(), []byte(text[:n])) {
					t.Errorf("%s: %d bytes are encrypted to %x", mode, n, secret.Bytes())
				}
			}
		}
	}
	for name, want := range map[string]bool{"aes-128-ecb": true, "AES-256-OFB": true, "aes-129-ecb": false, "aes-128-ctr": false, "aes-128": false, "des-128-ecb": false, "aes-x-ecb": false, "": false} {
		if got := BlockEncryptionMode(name); got != want {
			t.Errorf("%s is a mode: %v", name, got)
		}
	}
}

// lockSession notes what is done with locks.
type lockSession struct {
	*testSession
	calls []string
}

func (s *lockSession) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *lockSession) GetLock(_ context.Context, name string, timeout time.Duration) (bool, error) {
	s.note("get %s %d", name, timeout)
	return name != "taken", nil
}

func (s *lockSession) ReleaseLock(name string) (held, exists bool) {
	s.note("release %s", name)
	return name == "mine", name == "mine" || name == "taken"
}

func (s *lockSession) LockOwner(name string) (uint64, bool) { return 9, name == "taken" }
func (s *lockSession) ReleaseAllLocks() int                 { return 3 }

func TestUserLocks(t *testing.T) {
	long := strings.Repeat("ä", 65)
	for _, c := range []struct {
		e          Expr
		want, call string
	}{
		{call("get_lock", "mine", 2.5), "1", "get mine 2500000000"}, {call("get_lock", "taken", 0), "0", "get taken 0"}, {call("get_lock", "mine", -1), "1", fmt.Sprint("get mine ", math.MaxInt64)},
		{call("get_lock", "mine", nil), "1", "get mine 0"}, {call("get_lock", "mine", 9e9), "1", fmt.Sprint("get mine ", math.MaxInt64)}, {call("get_lock", "mine", 8.9e9), "1", "get mine 8900000000000000000"},
		{call("get_lock", nil, 1), "3057", ""}, {call("get_lock", "", 1), "3057", ""}, {call("get_lock", long, 1), "3057", ""}, {call("get_lock", long[2:], 1), "1", "get " + long[2:] + " 1000000000"},
		{call("release_lock", "mine"), "1", "release mine"}, {call("release_lock", "taken"), "0", "release taken"}, {call("release_lock", "none"), "NULL", "release none"}, {call("release_lock", nil), "3057", ""},
		{call("is_free_lock", "taken"), "0", ""}, {call("is_free_lock", "none"), "1", ""}, {call("is_used_lock", "taken"), "9u", ""}, {call("is_used_lock", "none"), "NULL", ""}, {call("release_all_locks"), "3u", ""},
	} {
		ec := testCtx(nil)
		s := &lockSession{testSession: ec.Session.(*testSession)}
		ec.Session = s
		d, err := EvalRow(ec, c.e, nil)
		got := datumText(d)
		if err != nil {
			got = errNumber(err)
		}
		if got != c.want || strings.Join(s.calls, ";") != c.call {
			t.Errorf("%s: %s after %q, want %s after %q", c.e, got, s.calls, c.want, c.call)
		}
	}
}
