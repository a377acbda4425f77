package expr

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// cryptDefs are AES and compression (MySQL manual 14.13).
func cryptDefs() []entry {
	return []entry{
		fn("aes_encrypt", "ss?ssss", retBinary(longText), rowAESEncrypt, nullable|loose|ofSettings),
		fn("aes_decrypt", "ss?ssss", retBinary(longText), rowAESDecrypt, nullable|loose|ofSettings),
		fn("compress", "s", retBinary(longText), rowCompress, nullable),
		fn("uncompress", "s", retBinary(longText), rowUncompress, nullable),
		fn("uncompressed_length", "s", retInt(10), rowUncompressedLength, nullable),
		fn("validate_password_strength", "s", retInt(10), rowPasswordStrength, loose|notNull),
	}
}

// blockMode is a value of block_encryption_mode: aes-keylen-mode.
type blockMode struct {
	keyBytes int
	mode     string // ecb, cbc, cfb1, cfb8, cfb128, ofb
}

// BlockEncryptionMode reports whether name is a value of the variable
// block_encryption_mode.
func BlockEncryptionMode(name string) bool {
	_, ok := parseBlockMode(name)
	return ok
}

func parseBlockMode(name string) (blockMode, bool) {
	parts := strings.Split(strings.ToLower(name), "-")
	if len(parts) != 3 || parts[0] != "aes" {
		return blockMode{}, false
	}
	bits, err := strconv.Atoi(parts[1])
	if err != nil || bits != 128 && bits != 192 && bits != 256 {
		return blockMode{}, false
	}
	switch parts[2] {
	case "ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb":
		return blockMode{bits / 8, parts[2]}, true
	}
	return blockMode{}, false
}

// aesCall is what a call of AES_ENCRYPT or AES_DECRYPT works with.
type aesCall struct {
	blockMode
	block cipher.Block
	iv    []byte
}

// newAES reads key, initialisation vector and key derivation. null is set
// when an argument makes the result NULL.
func newAES(c *Ctx, f *Func, a []value.Datum) (x aesCall, null bool, err error) {
	x.blockMode = blockMode{16, "ecb"}
	if m, ok := parseBlockMode(c.setting("block_encryption_mode").Str()); ok {
		x.blockMode = m
	}
	if x.mode != "ecb" {
		if len(a) < 3 {
			return x, false, wrongCount(f.Name)
		}
		if !a[2].IsNull() {
			if x.iv = a[2].Bytes(); len(x.iv) < aes.BlockSize {
				return x, false, sqlerr.AESInvalidIV(f.Name, aes.BlockSize)
			}
			x.iv = x.iv[:aes.BlockSize]
		}
	} else if len(a) == 3 {
		c.Warning(sqlerr.OptionIgnored("IV"))
	}
	if a[0].IsNull() || a[1].IsNull() || x.mode != "ecb" && x.iv == nil {
		return x, true, nil
	}
	key, err := deriveKey(f, a, x.keyBytes)
	if err != nil {
		return x, false, err
	}
	x.block, err = aes.NewCipher(key)
	return x, false, err
}

// Bounds of the iterations of PBKDF2 and of the sizes of salt and info.
const (
	minIterations = 1000
	maxIterations = 65535
	maxKDFOption  = 256
)

// deriveKey is a key of n bytes: the given one folded by XOR, or made from it
// by the key derivation function in a[3].
func deriveKey(f *Func, a []value.Datum, n int) ([]byte, error) {
	given := a[1].Bytes()
	if len(a) < 4 {
		key := make([]byte, n)
		for len(given) > 0 {
			given = given[subtle.XORBytes(key, key, given):]
		}
		return key, nil
	}
	var options [2][]byte
	for i := range options {
		if at := 4 + i; len(a) > at {
			if a[at].IsNull() || len(a[at].Bytes()) >= maxKDFOption {
				return nil, sqlerr.AESInvalidKDFOption(f.Name, maxKDFOption)
			}
			options[i] = a[at].Bytes()
		}
	}
	name := ""
	if !a[3].IsNull() {
		name = a[3].Str()
	}
	switch name {
	case "hkdf":
		return hkdf.Key(sha512.New, given, options[0], string(options[1]), n)
	case "pbkdf2_hmac":
		iterations := minIterations
		if len(a) > 5 {
			v, err := strconv.Atoi(strings.TrimSpace(string(options[1])))
			if err != nil || v < minIterations || v > maxIterations {
				return nil, sqlerr.AESInvalidIterations(f.Name, minIterations, maxIterations)
			}
			iterations = v
		}
		return pbkdf2.Key(sha512.New, a[1].Str(), options[0], iterations, n)
	}
	return nil, sqlerr.AESInvalidKDF(f.Name)
}

func rowAESEncrypt(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x, null, err := newAES(c, f, a)
	if err != nil || null {
		return value.Null, err
	}
	out := bytes.Clone(a[0].Bytes())
	if x.mode == "ecb" || x.mode == "cbc" {
		pad := aes.BlockSize - len(out)%aes.BlockSize
		out = append(out, bytes.Repeat([]byte{byte(pad)}, pad)...)
	}
	x.run(out, true)
	return value.Bytes(out), nil
}

// rowAESDecrypt is NULL for what no encryption with this key gives.
func rowAESDecrypt(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x, null, err := newAES(c, f, a)
	if err != nil || null {
		return value.Null, err
	}
	out := bytes.Clone(a[0].Bytes())
	padded := x.mode == "ecb" || x.mode == "cbc"
	if padded && (len(out) == 0 || len(out)%aes.BlockSize != 0) {
		return value.Null, nil
	}
	x.run(out, false)
	if !padded {
		return value.Bytes(out), nil
	}
	pad := int(out[len(out)-1])
	if pad < 1 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return value.Null, nil
	}
	return value.Bytes(out[:len(out)-pad]), nil
}

// run encrypts or decrypts buf in place.
func (x *aesCall) run(buf []byte, encrypt bool) {
	switch x.mode {
	case "ecb":
		for i := 0; i < len(buf); i += aes.BlockSize {
			if b := buf[i : i+aes.BlockSize]; encrypt {
				x.block.Encrypt(b, b)
			} else {
				x.block.Decrypt(b, b)
			}
		}
	case "cbc":
		if encrypt {
			cipher.NewCBCEncrypter(x.block, x.iv).CryptBlocks(buf, buf)
		} else {
			cipher.NewCBCDecrypter(x.block, x.iv).CryptBlocks(buf, buf)
		}
	case "ofb", "cfb128":
		x.feedBlocks(buf, encrypt)
	case "cfb8":
		x.feedBits(buf, 8, encrypt)
	case "cfb1":
		x.feedBits(buf, 1, encrypt)
	}
}

// feedBlocks is OFB and CFB with a feedback of whole blocks: the key stream
// itself is fed back, or the cipher text.
func (x *aesCall) feedBlocks(buf []byte, encrypt bool) {
	feed := bytes.Clone(x.iv)
	var stream [aes.BlockSize]byte
	for len(buf) > 0 {
		x.block.Encrypt(stream[:], feed)
		n := min(len(buf), aes.BlockSize)
		copy(feed, stream[:])
		for i := range n {
			b := buf[i]
			buf[i] ^= stream[i]
			if x.mode == "cfb128" {
				if encrypt {
					b = buf[i]
				}
				feed[i] = b
			}
		}
		buf = buf[n:]
	}
}

// feedBits is CFB with a feedback of 1 or 8 bits: the register moves by so
// many bits of cipher text at each step.
func (x *aesCall) feedBits(buf []byte, bits uint, encrypt bool) {
	feed := bytes.Clone(x.iv)
	var stream [aes.BlockSize]byte
	for i := range buf {
		for done := uint(0); done < 8; done += bits {
			x.block.Encrypt(stream[:], feed)
			shift := 8 - bits - done
			mask := byte(1<<bits-1) << shift
			before := buf[i] & mask
			buf[i] ^= stream[0] >> (8 - bits) << shift & mask
			sent := before
			if encrypt {
				sent = buf[i] & mask
			}
			shiftIn(feed, sent>>shift, bits)
		}
	}
}

// shiftIn moves reg to the left by bits and puts v at its end.
func shiftIn(reg []byte, v byte, bits uint) {
	for i := range reg {
		next := v << (8 - bits)
		if i+1 < len(reg) {
			next = reg[i+1]
		}
		reg[i] = reg[i]<<bits | next>>(8-bits)
	}
}

// Compressed strings are the length of the text in four bytes, little-endian, and
// its zlib form. A trailing space is followed by a point, so that CHAR columns do
// not cut it. The empty string stays empty.
func rowCompress(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	if len(s) == 0 {
		return a[0], nil
	}
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))&0x3FFFFFFF))
	w := zlib.NewWriter(&b)
	if err := c.write(w, s); err != nil {
		return value.Null, err
	}
	if err := w.Close(); err != nil {
		return value.Null, sqlerr.Internal("compress: %v", err)
	}
	if out := b.Bytes(); out[len(out)-1] == ' ' {
		b.WriteByte('.')
	}
	return value.Bytes(b.Bytes()), nil
}

func rowUncompress(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	if len(s) == 0 {
		return a[0], nil
	}
	bad := func() (value.Datum, error) {
		c.Warning(sqlerr.ZlibDataError())
		return value.Null, nil
	}
	if len(s) <= 4 {
		return bad()
	}
	size := int64(binary.LittleEndian.Uint32(s) & 0x3FFFFFFF)
	if size > c.packet() {
		c.Warning(sqlerr.ZlibTooBig(c.packet()))
		return value.Null, nil
	}
	if err := c.reserve(size - c.reserved); err != nil {
		return value.Null, err
	}
	r, err := zlib.NewReader(bytes.NewReader(s[4:]))
	if err != nil {
		return bad()
	}
	out := make([]byte, 0, size+1)
	for err == nil && int64(len(out)) <= size {
		if err := c.Work(writeStep); err != nil {
			return value.Null, err
		}
		var n int
		n, err = r.Read(out[len(out):min(len(out)+writeStep, cap(out))])
		out = out[:len(out)+n]
	}
	if !errors.Is(err, io.EOF) || int64(len(out)) > size {
		return bad()
	}
	return value.Bytes(out), nil
}

func rowUncompressedLength(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	switch {
	case len(s) == 0:
		return value.Int(0), nil
	case len(s) <= 4:
		c.Warning(sqlerr.ZlibDataError())
		return value.Int(0), nil
	}
	return value.Int(int64(binary.LittleEndian.Uint32(s) & 0x3FFFFFFF)), nil
}

// rowPasswordStrength is 0, as in a MySQL without the component
// validate_password, which is what sqlots is.
func rowPasswordStrength(*Ctx, *Func, []value.Datum) (value.Datum, error) {
	return value.Int(0), nil
}
