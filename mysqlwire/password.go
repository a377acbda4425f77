package mysqlwire

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"sync"
)

// The authentication plugins.
const (
	PluginNative      = "mysql_native_password"
	PluginCachingSHA2 = "caching_sha2_password"
)

// Stored forms of passwords (authentication_string), as MySQL's:
//
//	mysql_native_password   "*" + upper-case hex of SHA1(SHA1(password))
//	caching_sha2_password   "$A$005$" + 20 bytes salt + 43 characters of
//	                        SHA-256 crypt with 5000 rounds
//	either                  "" for the empty password
const (
	sha2Prefix     = "$A$005$"
	sha2Rounds     = 5000
	sha2SaltLen    = 20
	sha2DigestLen  = 43
	scrambleLen    = 20
	maxPasswordLen = 256 // MySQL's; the digest costs the more the longer it is
)

// HashNative is the stored form of a password for mysql_native_password.
func HashNative(password string) string {
	if password == "" {
		return ""
	}
	h := nativeHash(password)
	return "*" + strings.ToUpper(hex.EncodeToString(h[:]))
}

// nativeHash is SHA1(SHA1(password)).
func nativeHash(password string) [sha1.Size]byte {
	h := sha1.Sum([]byte(password))
	return sha1.Sum(h[:])
}

// HashCachingSHA2 is the stored form of a password of at most 256 bytes for
// caching_sha2_password.
// The salt is 20 bytes without NUL and '$'; with nil one is made.
func HashCachingSHA2(password string, salt []byte) string {
	if password == "" {
		return ""
	}
	if salt == nil {
		salt = randomText(sha2SaltLen)
	}
	return sha2Prefix + string(salt) + sha256Crypt([]byte(password), salt, sha2Rounds)
}

// VerifyNative reports whether a password fits a stored form of
// mysql_native_password.
func VerifyNative(stored, password string) bool {
	return subtle.ConstantTimeCompare([]byte(stored), []byte(HashNative(password))) == 1
}

// VerifyCachingSHA2 reports whether a password fits a stored form of
// caching_sha2_password.
func VerifyCachingSHA2(stored, password string) bool {
	if stored == "" || password == "" {
		return stored == password
	}
	if !ValidAuthString(PluginCachingSHA2, stored) || len(password) > maxPasswordLen {
		return false
	}
	salt := stored[len(sha2Prefix) : len(sha2Prefix)+sha2SaltLen]
	return subtle.ConstantTimeCompare([]byte(stored), []byte(HashCachingSHA2(password, []byte(salt)))) == 1
}

// ValidAuthString reports whether s is a well-formed stored form for the
// plugin, for CREATE USER ... IDENTIFIED WITH plugin AS 's'. It is false for
// unknown plugins.
func ValidAuthString(plugin, s string) bool {
	switch plugin {
	case PluginNative:
		if s == "" {
			return true
		}
		_, err := hex.DecodeString(strings.TrimPrefix(s, "*"))
		return err == nil && len(s) == 1+2*sha1.Size && s[0] == '*'
	case PluginCachingSHA2:
		return s == "" || strings.HasPrefix(s, sha2Prefix) && len(s) == len(sha2Prefix)+sha2SaltLen+sha2DigestLen
	}
	return false
}

// HashPassword is the stored form of a password for a plugin; false for an
// unknown plugin and for a password that is too long for it.
func HashPassword(plugin, password string) (string, bool) {
	switch plugin {
	case PluginNative:
		return HashNative(password), true
	case PluginCachingSHA2:
		if len(password) <= maxPasswordLen {
			return HashCachingSHA2(password, nil), true
		}
	}
	return "", false
}

// VerifyPassword reports whether a password fits a stored form of a plugin; false for an
// unknown plugin.
func VerifyPassword(plugin, stored, password string) bool {
	switch plugin {
	case PluginNative:
		return VerifyNative(stored, password)
	case PluginCachingSHA2:
		return VerifyCachingSHA2(stored, password)
	}
	return false
}

// checkNative verifies the answer of mysql_native_password:
// SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password))).
func checkNative(scramble, answer []byte, stored string) bool {
	if stored == "" || len(answer) == 0 {
		return stored == "" && len(answer) == 0
	}
	twice, err := hex.DecodeString(strings.TrimPrefix(stored, "*"))
	if err != nil || len(twice) != sha1.Size || len(answer) != sha1.Size {
		return false
	}
	h := sha1.New()
	h.Write(scramble)
	h.Write(twice)
	once := h.Sum(nil)
	subtle.XORBytes(once, once, answer)
	check := sha1.Sum(once)
	return subtle.ConstantTimeCompare(check[:], twice) == 1
}

// sha2Digest is what the cache keeps of a password: SHA256(SHA256(password)).
func sha2Digest(password string) [sha256.Size]byte {
	h := sha256.Sum256([]byte(password))
	return sha256.Sum256(h[:])
}

// checkSHA2 verifies the fast answer of caching_sha2_password:
// SHA256(password) XOR SHA256(SHA256(SHA256(password)) + scramble).
func checkSHA2(scramble, answer []byte, digest [sha256.Size]byte) bool {
	if len(answer) != sha256.Size {
		return false
	}
	h := sha256.New()
	h.Write(digest[:])
	h.Write(scramble)
	once := h.Sum(nil)
	subtle.XORBytes(once, once, answer)
	check := sha256.Sum256(once)
	return subtle.ConstantTimeCompare(check[:], digest[:]) == 1
}

// passwordCache remembers digests of verified passwords by stored form, whose
// salt makes it unique to an account and its present password.
type passwordCache struct {
	mu sync.RWMutex
	m  map[string][sha256.Size]byte
}

// maxCachedPasswords bounds the cache; a full one starts again.
const maxCachedPasswords = 10000

func (c *passwordCache) get(stored string) ([sha256.Size]byte, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.m[stored]
	return d, ok
}

func (c *passwordCache) put(stored string, digest [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCachedPasswords {
		c.m = map[string][sha256.Size]byte{}
	}
	c.m[stored] = digest
}

// verify reports whether a password fits a stored form of caching_sha2_password, and
// remembers it then.
func (c *passwordCache) verify(stored, password string) bool {
	d := sha2Digest(password)
	if digest, cached := c.get(stored); cached && d == digest {
		return true // another connection has come first
	}
	if !VerifyCachingSHA2(stored, password) {
		return false
	}
	c.put(stored, d)
	return true
}

// randomText is n random bytes of 7 bits without NUL and '$', as scrambles
// and salts must be.
func randomText(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] &= 0x7f
		if b[i] == 0 || b[i] == '$' {
			b[i]++
		}
	}
	return b
}

// fakeAuthStrings are stored forms, by plugin, whose passwords are unknown to all.
func fakeAuthStrings() map[string]string {
	fake := map[string]string{}
	for _, plugin := range []string{PluginNative, PluginCachingSHA2} {
		fake[plugin], _ = HashPassword(plugin, string(randomText(32)))
	}
	return fake
}

const cryptAlphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// sha256Crypt is the digest part of the Unix "SHA-crypt" scheme with SHA-256
// (U. Drepper, "Unix crypt using SHA-256 and SHA-512"), without its limit of
// 16 bytes on the salt.
func sha256Crypt(key, salt []byte, rounds int) string {
	h := sha256.New()
	sum := func(parts ...[]byte) []byte {
		h.Reset()
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	b := sum(key, salt, key)
	h.Reset()
	h.Write(key)
	h.Write(salt)
	h.Write(repeatTo(b, len(key)))
	for n := len(key); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write(b)
		} else {
			h.Write(key)
		}
	}
	a := h.Sum(nil)
	h.Reset()
	for range len(key) {
		h.Write(key)
	}
	p := repeatTo(h.Sum(nil), len(key))
	h.Reset()
	for range 16 + int(a[0]) {
		h.Write(salt)
	}
	s := repeatTo(h.Sum(nil), len(salt))
	c := a
	for i := range rounds {
		h.Reset()
		if i&1 != 0 {
			h.Write(p)
		} else {
			h.Write(c)
		}
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		if i&1 != 0 {
			h.Write(c)
		} else {
			h.Write(p)
		}
		c = h.Sum(c[:0])
	}
	return cryptEncode(c)
}

// repeatTo repeats digest to n bytes.
func repeatTo(digest []byte, n int) []byte {
	out := make([]byte, 0, n+len(digest))
	for len(out) < n {
		out = append(out, digest...)
	}
	return out[:n]
}

// cryptEncode writes a digest in the scheme's own base 64 and byte order.
func cryptEncode(c []byte) string {
	out := make([]byte, 0, sha2DigestLen)
	group := func(x, y, z byte, n int) {
		w := uint32(x)<<16 | uint32(y)<<8 | uint32(z)
		for range n {
			out = append(out, cryptAlphabet[w&0x3f])
			w >>= 6
		}
	}
	x, y, z := 0, 10, 20
	for range 10 {
		group(c[x], c[y], c[z], 4)
		x, y, z = (z+1)%30, (x+1)%30, (y+1)%30
	}
	group(0, c[31], c[30], 3)
	return string(out)
}
