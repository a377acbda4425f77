package expr

import (
	"bytes"
	"unsafe"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Memory counts large values. It may be used by many goroutines.
type Memory interface {
	// Reserve takes n bytes, or fails with 3170.
	Reserve(n int64) error
	// Release gives n reserved bytes back.
	Release(n int64)
	// Keep turns a reservation of len(b) bytes into one that ends when the garbage
	// collector frees b.
	Keep(b []byte)
	// KeepAs is Keep of a reservation of n bytes, which other bytes take that are freed
	// at about the same time.
	KeepAs(b []byte, n int64)
	// Copy is a copy of b that is counted for as long as Keep counts: 3170.
	Copy(b []byte) ([]byte, error)
	// BatchRoom is how many bytes a batch of rows may have now.
	BatchRoom() int
	// HoldBatch counts b as memory of a batch until the garbage collector frees it.
	HoldBatch(b []byte)
}

const (
	// largeValue is the length in bytes from which on a value is counted.
	largeValue = 32 << 10
	// workStep is how much work is done between two looks at the context. A unit is
	// about a nanosecond.
	workStep = 1 << 20
	// workOfCall is the least work of a call.
	workOfCall = 64
	// defaultPacket is MySQL's default of max_allowed_packet.
	defaultPacket = 64 << 20
)

// Work counts work, in units of about a nanosecond, and fails when the statement was
// killed, has timed out or lost its client. Loops of functions call it whose length
// depends on a value.
func (c *Ctx) Work(n int) error {
	if c.work += n; c.work < workStep {
		return nil
	}
	c.work = 0
	if ctx := c.context(); ctx.Err() != nil {
		return contextError(ctx)
	}
	return nil
}

// packet is max_allowed_packet: the most bytes of a value that a function makes.
func (c *Ctx) packet() int64 {
	if c.maxPacket == 0 {
		c.maxPacket = defaultPacket
		if d := c.setting("max_allowed_packet"); !d.IsNull() {
			c.maxPacket = int64(d.Bits())
		}
	}
	return c.maxPacket
}

// room is called before a function makes a value of n bytes. It reports false, with
// warning 1301, if that is more than max_allowed_packet: the result is then NULL. The
// error is 3170. What it reserves is for the call under way.
func (c *Ctx) room(function string, n int64) (bool, error) {
	if n > c.packet() {
		c.Warning(sqlerr.PacketOverflow(function, c.packet()))
		return false, nil
	}
	if n < largeValue {
		return true, nil
	}
	return true, c.reserve(n - c.reserved)
}

// reserve takes n more bytes for the call under way.
func (c *Ctx) reserve(n int64) error {
	if c.Memory == nil || n <= 0 {
		return nil
	}
	if err := c.Memory.Reserve(n); err != nil {
		return err
	}
	c.reserved += n
	return nil
}

// call runs a builtin with evaluated arguments. It is the one place that counts what
// calls work on and what they make, and bounds that by max_allowed_packet.
func (c *Ctx) call(f *Func, args []value.Datum) (value.Datum, error) {
	n := 0
	for i := range args {
		n += args[i].Size()
	}
	if c.work += workOfCall + n; c.work >= workStep {
		if err := c.Work(0); err != nil {
			return value.Null, err
		}
	}
	if n >= largeValue {
		return c.callLarge(f, args, n)
	}
	d, err := f.B.Row(c, f, args)
	size := d.Size()
	c.work += size
	if size >= ownChunk || c.small >= sampleStep {
		if err := c.sample(d, size, args); err != nil {
			return value.Null, err
		}
	}
	if c.reserved == 0 && size < largeValue {
		return d, err
	}
	return c.settle(f, args, n, d, err)
}

// Values that are not large are not counted one by one. Of each sampleStep bytes that they
// take, one value counts for all, until it is freed. Values of ownChunk bytes and more
// count where they are not in the arena, too.
const (
	sampleStep = 256 << 10
	ownChunk   = arenaChunk / 2
)

// sample counts the small values since the last sample, with d, that a call has made.
func (c *Ctx) sample(d value.Datum, size int, args []value.Datum) error {
	of := c.arena
	if size >= ownChunk && size < largeValue {
		if b := d.Bytes(); cap(c.arena) == 0 || !shares(b, []value.Datum{value.Bytes(c.arena[:cap(c.arena)])}) && !shares(b, args) {
			c.small, of = c.small+size, b
		}
	}
	if c.small < sampleStep || c.Memory == nil || cap(of) == 0 {
		return nil
	}
	n := int64(c.small)
	c.small = 0
	if err := c.Memory.Reserve(n); err != nil {
		return err
	}
	c.Memory.KeepAs(of[:cap(of)], n)
	return nil
}

// callLarge is call for arguments of n bytes together.
func (c *Ctx) callLarge(f *Func, args []value.Datum, n int) (value.Datum, error) {
	c.countConversions()
	if err := c.reserve(int64(n) * f.B.transient(f)); err != nil {
		return value.Null, err
	}
	d, err := f.B.Row(c, f, args)
	return c.settle(f, args, n, d, c.takeFailure(err))
}

// readEnv is Env for the conversion of d to type to. With a large value its work is
// counted, and memory is taken for what a text becomes: 3170.
func (c *Ctx) readEnv(d value.Datum, to schema.Type) (*types.Env, error) {
	if d.Size() < largeValue {
		return &c.Env, nil
	}
	c.countConversions()
	if d.Kind() != value.KindBytes || to.ID != schema.TypeJSON {
		return &c.Env, nil
	}
	return &c.Env, c.reserve(value.JSONRoom(d.Bytes()) - c.reserved)
}

// countConversions has the work of conversions counted from now on.
func (c *Ctx) countConversions() {
	if c.Env.Work == nil {
		c.Env.Work = c.Work
	}
}

// Store is types.Store, with the memory and the work of large values counted.
func (c *Ctx) Store(d value.Datum, from schema.Type, to *schema.Column, number int) (value.Datum, error) {
	if d.Size() < largeValue {
		return types.Store(&c.Env, d, from, to, number)
	}
	env, err := c.readEnv(d, to.Type)
	if err == nil {
		d, err = types.Store(env, d, from, to, number)
	}
	if c.reserved != 0 {
		c.Memory.Release(c.reserved)
		c.reserved = 0
	}
	return d, err
}

// settle ends a call: its result is counted, and what else was reserved is given back.
func (c *Ctx) settle(f *Func, args []value.Datum, n int, d value.Datum, err error) (value.Datum, error) {
	if size := d.Size(); err == nil && size >= largeValue && !f.B.shares && !shares(d.Bytes(), args) {
		if size > n {
			ok := false
			if ok, err = c.room(f.Name, int64(size)); !ok {
				d = value.Null
			}
		} else {
			err = c.reserve(int64(size) - c.reserved)
		}
		c.extras().step.made += size
		if err == nil && !d.IsNull() && c.Memory != nil {
			c.Memory.Keep(d.Bytes())
			c.reserved -= int64(size)
			c.fresh = unsafe.SliceData(d.Bytes())
		}
	}
	if c.reserved != 0 {
		c.Memory.Release(c.reserved)
		c.reserved = 0
	}
	if err != nil {
		return value.Null, err
	}
	return d, nil
}

// shares reports whether b is a part of an argument's bytes.
func shares(b []byte, args []value.Datum) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for i := range args {
		if a := args[i].Bytes(); len(a) > 0 {
			if from := uintptr(unsafe.Pointer(unsafe.SliceData(a))); at >= from && at < from+uintptr(len(a)) {
				return true
			}
		}
	}
	return false
}

// Own is d with bytes that do not change: a copy, or d itself if the last call has
// made it and it is counted.
func (c *Ctx) Own(d value.Datum) (value.Datum, error) {
	if d.Size() < largeValue {
		return d.Clone(), nil
	}
	if unsafe.SliceData(d.Bytes()) == c.fresh {
		c.fresh = nil
		return d, nil
	}
	b, err := c.large(d.Bytes())
	if d.Kind() == value.KindJSON {
		return value.JSONOf(b), err
	}
	return value.Bytes(b), err
}

// Hold takes n bytes until release is called: 3170.
func (c *Ctx) Hold(n int64) (release func(), err error) {
	if n < largeValue || c.Memory == nil {
		return func() {}, nil
	}
	if err := c.Memory.Reserve(n); err != nil {
		return nil, err
	}
	return func() { c.Memory.Release(n) }, nil
}

// Large makes a value of n bytes outside of calls, and counts it if it is a large one:
// 3170.
func (c *Ctx) Large(n int, make func() ([]byte, error)) ([]byte, error) {
	if n < largeValue || c.Memory == nil {
		return make()
	}
	if err := c.Memory.Reserve(int64(n)); err != nil {
		return nil, err
	}
	b, err := make()
	if err != nil {
		c.Memory.Release(int64(n))
		return nil, err
	}
	c.Memory.Keep(b)
	return b, nil
}

// large is a copy of b, which is long enough to be counted.
func (c *Ctx) large(b []byte) ([]byte, error) {
	if c.Memory == nil {
		return bytes.Clone(b), nil
	}
	return c.Memory.Copy(b)
}

// transients are how many bytes calls need for a moment for each byte of their
// arguments, their result included, where that is not one for each byte of a text.
var transients = map[string]int64{
	"md5": none, "sha": none, "sha2": none, "left": none, "right": none, "substr": none, "substring_index": none, "trim": none, "ltrim": none, "rtrim": none, "elt": none,
	"replace": none, "insert": none, "concat": none, "concat_ws": none, "repeat": none, "lpad": none, "rpad": none, // they reserve what they need
	"hex": 2, "quote": 2, "to_base64": 2, "weight_string": 4, "upper": 2, "lower": 2, "convert_using": 4, "cast": 4,
	"json_quote": 7, "json_pretty": 8, "json_array": 2, "json_object": 2, "json_keys": 8, "json_search": 8, "json_remove": 8, "json_extract": 8,
	"json_set": 8, "json_insert": 8, "json_replace": 8, "json_array_append": 8, "json_array_insert": 8, "json_merge_patch": 8, "json_merge_preserve": 8,
	"json_unquote": 3, "json_contains": 6, "json_overlaps": 6, "json_schema_valid": 8, "json_schema_validation_report": 8,
	"json_doc": none, "json_valid": none, "json_of": 2, "json_scalar": 2,
	"regexp": 96, "regexp_like": 96, "regexp_instr": 96, "regexp_substr": 96, "regexp_replace": 96,
	"extractvalue": 16, "updatexml": 16, "aes_encrypt": 2, "aes_decrypt": 2, "compress": 2,
	"statement_digest": 64, "statement_digest_text": 64, "format": 4,
	"st_geomfromtext": 16, "st_geomfromwkb": 8, "st_geomfromgeojson": 16,
}

// none are the transients of calls that make nothing large of their arguments.
const none = -1

// transient is the bytes that a call of f needs for each byte of its arguments.
func (b *Builtin) transient(f *Func) int64 {
	switch {
	case b.grows == none:
		return 0
	case b.grows > 0:
		return b.grows
	case f.T.ID == schema.TypeGeometry:
		return transients["st_geomfromwkb"]
	}
	switch types.KindOf(f.T) {
	case value.KindBytes, value.KindJSON:
		return 1
	}
	return 0
}
