package expr

import (
	"strings"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

type (
	rowFunc  func(c *Ctx, f *Func, args []value.Datum) (value.Datum, error)
	lazyFunc func(c *Ctx, f *Func, row []value.Datum) (value.Datum, error)
	vecFunc  func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error)
	selFunc  func(c *Ctx, f *Func, in *vec.Batch) error
	bindFunc func(d *def, env *BindEnv, name string, args []Expr) (Expr, error)
	typeFunc func(b *binding) (schema.Type, error)
)

// impl is how a builtin runs. At least Builtin.Row or lazy is set; the others
// are faster ways to the same values.
type impl struct {
	// strict: NULL for any NULL argument, without a call of Row.
	strict bool
	lazy   lazyFunc
	vec    vecFunc
	filter selFunc
	// grows is Builtin.transient where it is set; shares: results belong to others
	// than the call and its arguments.
	grows  int64
	shares bool
}

// def is a builtin with the rules of its arguments and its type.
type def struct {
	b      Builtin
	lo, hi int // number of arguments; hi < 0: no limit
	sig    string
	repeat int // index in sig of the class that repeats, -1 if none
	ret    typeFunc
	flags  flags
	// custom replaces the common bind by signature.
	custom bindFunc
	rename string
}

type flags uint8

const (
	nullable   flags = 1 << iota // may be NULL with arguments that are not
	notNull                      // never NULL
	loose                        // Row takes NULL arguments
	volatile                     // see Builtin.Volatile
	ofSession                    // see Builtin.Session
	ofSettings                   // see Builtin.Settings
)

// binding is the state of typing one call.
type binding struct {
	env  *BindEnv
	name string
	orig []Expr // as given
	args []Expr // converted
	null bool
}

// fn describes one builtin; names are separated by spaces. sig has a letter
// for each argument (see convertArg), '?' before the first optional one, '*'
// (none or more) or '+' (one or more) after the one that repeats.
func fn(names, sig string, ret typeFunc, row rowFunc, fl flags) entry {
	d := &def{ret: ret, flags: fl, repeat: -1}
	optional := false
	for i := 0; i < len(sig); i++ {
		switch sig[i] {
		case '?':
			optional = true
		case '*', '+':
			d.repeat = len(d.sig) - 1
			d.hi = -1
			if sig[i] == '*' {
				d.lo--
			}
		default:
			d.sig += sig[i : i+1]
			if !optional {
				d.lo++
			}
		}
	}
	if d.hi >= 0 {
		d.hi = len(d.sig)
	}
	d.b.Row = row
	d.b.strict = fl&loose == 0
	d.b.setFlags(fl)
	return entry{names, d}
}

// vec gives the builtin a kernel.
func (e entry) vec(k vecFunc) entry {
	e.d.b.vec = k
	return e
}

func (b *Builtin) setFlags(fl flags) {
	b.Volatile = b.Volatile || fl&volatile != 0
	b.Session, b.Settings = fl&ofSession != 0, fl&ofSettings != 0
}

// special describes a builtin that binds itself.
func special(names string, bind bindFunc, d def) entry {
	d.custom = bind
	d.b.setFlags(d.flags)
	return entry{names, &d}
}

type entry struct {
	names string
	d     *def
}

// The table is made at first use and never changed: a variable with an
// initialiser would be a cycle, since functions look others up.
var (
	tableOnce sync.Once
	table     map[string]*def
)

func functions() map[string]*def {
	tableOnce.Do(func() {
		table = map[string]*def{}
		for _, list := range [][]entry{
			operatorDefs(), controlDefs(), stringDefs(), stringCodecDefs(), regexpDefs(), matchDefs(), numberDefs(), dateDefs(), dateTextDefs(),
			infoDefs(), lockDefs(), streamDefs(), miscDefs(), formDefs(), jsonDefs(), internalDefs(),
			letDefs(), limitDefs(), cryptDefs(), serverDefs(), jsonSchemaDefs(), jsonValueDefs(), castArrayDefs(), variantDefs(), partitionDefs(), xmlDefs(), geoDefs(),
		} {
			for _, e := range list {
				if e.names == "member_of" { // the operator has a space in its name
					e.d.rename = "member of"
					table[e.d.rename] = e.d
				}
				for i, name := range strings.Fields(e.names) {
					if i == 0 {
						e.d.b.Name = name
						e.d.b.grows = transients[name]
					}
					table[name] = e.d
				}
			}
		}
	})
	return table
}

func lookup(name string) *def { return functions()[name] }

// mustLookup is for names that this package itself defines.
func mustLookup(name string) *def {
	d := lookup(name)
	if d == nil {
		panic("expr: no builtin " + name)
	}
	return d
}

func (d *def) class(i int) byte {
	if i < len(d.sig) && (d.repeat < 0 || i < d.repeat) {
		return d.sig[i]
	}
	if d.repeat >= 0 {
		return d.sig[d.repeat]
	}
	return 'x'
}

func (d *def) bind(env *BindEnv, name string, args []Expr) (Expr, error) {
	if d.custom != nil {
		return d.custom(d, env, name, args)
	}
	if len(args) < d.lo || d.hi >= 0 && len(args) > d.hi {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	b := &binding{env: env, name: name, orig: args, args: make([]Expr, len(args))}
	for i, a := range args {
		x, err := convertArg(env, d.class(i), a)
		if d.class(i) == 'j' {
			x, err = namedJSON(x, err, i+1, name)
		}
		if err != nil {
			return nil, err
		}
		b.args[i] = x
		b.null = b.null || x.Nullable()
	}
	if d.flags&nullable != 0 {
		b.null = true
	}
	if d.flags&notNull != 0 {
		b.null = false
	}
	t, err := d.ret(b)
	if err != nil {
		return nil, err
	}
	return d.call(name, b.args, t, b.null, nil), nil
}
