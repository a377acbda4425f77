package loaddata

import (
	"io"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// loadText gives a file of LOAD DATA in utf8mb4. Those character sets whose
// characters are not made of single bytes as ASCII has them are refused by
// MySQL too.
func loadText(in io.Reader, charset string) (io.Reader, error) {
	if known, ok := collate.DefaultForCharset(charset); charset == "" || charset == "ascii" || ok && sysvar.Foreign(known.Charset) == nil {
		return in, nil
	}
	switch charset {
	case "ucs2", "utf16", "utf16le", "utf32":
		return nil, sqlerr.NotSupported("LOAD DATA CHARACTER SET " + charset)
	}
	c, ok := collate.DefaultForCharset(charset)
	if !ok {
		return nil, sqlerr.UnknownCharset(charset)
	}
	to, _ := collate.DefaultForCharset("utf8mb4")
	return &textReader{in: in, from: c, to: to}, nil
}

// textReader converts text from one character set to another. Characters that
// the other does not have become '?'.
type textReader struct {
	in       io.Reader
	from, to *collate.Collation
	raw, out []byte
	err      error
}

// textPiece is the size in bytes of one read.
const textPiece = 1 << 16

// maxCharLen is the length in bytes of the longest character of any set.
const maxCharLen = 4

// Read implements io.Reader.
func (r *textReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		kept := len(r.raw)
		r.raw = append(r.raw, make([]byte, textPiece)...)
		n, err := r.in.Read(r.raw[kept:])
		r.raw, r.err = r.raw[:kept+n], err
		r.convert()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// convert turns the whole characters of raw into out; the last bytes may be the
// beginning of one.
func (r *textReader) convert() {
	end := len(r.raw)
	if r.err == nil {
		end = 0
		for end < len(r.raw)-maxCharLen {
			_, n := r.from.Decode(r.raw[end:])
			end += n
		}
	}
	r.out, _ = r.from.Convert(r.out[:0], r.raw[:end], r.to)
	r.raw = append(r.raw[:0], r.raw[end:]...)
}
