package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/storage"
)

// Key prefixes in the system key space.
const (
	system      = 0x01
	keyDatabase = 'd'
	keyTable    = 't'
	keyAccount  = 'u'
	keyNextID   = 'n'
	keyView     = 'v'
	keySetting  = 'p'
	keySecret   = 'k'
	keyGrants   = 'g'
	// keyPrivileges marks a catalog whose accounts have no more than was granted.
	keyPrivileges = 'q'
)

// firstTableID leaves room for tables of our own.
const firstTableID = 1000

// Account is a user account. Fields that are not set have the meaning of an account whose
// statement did not name the clause, so that accounts of older versions load.
type Account struct {
	User string `json:"user"`
	Host string `json:"host"` // an address or a name, a network, or a pattern with % and _
	// Plugin and AuthString are those of mysql.user.
	Plugin     string `json:"plugin"`
	AuthString string `json:"auth,omitempty"`
	// SecondAuth is the password before, of RETAIN CURRENT PASSWORD, which is right as
	// well; "" for none.
	SecondAuth string `json:"second_auth,omitempty"`
	Locked     bool   `json:"locked,omitempty"`

	// RequireTLS is set by each REQUIRE but NONE. RequireX509 requires a certificate of the
	// client, which TLSIssuer and TLSSubject do too; those and TLSCipher are "" where any
	// will do.
	RequireTLS  bool   `json:"require_tls,omitempty"`
	RequireX509 bool   `json:"require_x509,omitempty"`
	TLSCipher   string `json:"tls_cipher,omitempty"`
	TLSIssuer   string `json:"tls_issuer,omitempty"`
	TLSSubject  string `json:"tls_subject,omitempty"`

	// Expired is PASSWORD EXPIRE. PasswordChanged is when the password was set, in seconds
	// since 1970, 0 if that is not known; Lifetime how many days it lasts, 0 for ever and
	// nil for default_password_lifetime.
	Expired         bool  `json:"expired,omitempty"`
	PasswordChanged int64 `json:"password_changed,omitempty"`
	Lifetime        *int  `json:"lifetime,omitempty"`
	// History is how many passwords, and ReuseDays for how many days those before, must not
	// be used again; nil for password_history and password_reuse_interval. OldHashes are
	// the passwords with their times, the present one first.
	History   *int      `json:"history,omitempty"`
	ReuseDays *int      `json:"reuse_days,omitempty"`
	OldHashes []OldHash `json:"old_hashes,omitempty"`
	// RequireCurrent is PASSWORD REQUIRE CURRENT, false with OPTIONAL and nil for
	// password_require_current.
	RequireCurrent *bool `json:"require_current,omitempty"`
	// FailedAttempts is FAILED_LOGIN_ATTEMPTS, LockDays is PASSWORD_LOCK_TIME, -1 for
	// UNBOUNDED. Where one of them is 0, failed logins have no consequence.
	FailedAttempts int `json:"failed_attempts,omitempty"`
	LockDays       int `json:"lock_days,omitempty"`

	// The limits of resources; 0 for none.
	MaxQueries         int `json:"max_queries,omitempty"`     // an hour
	MaxUpdates         int `json:"max_updates,omitempty"`     // an hour
	MaxConnections     int `json:"max_connections,omitempty"` // an hour
	MaxUserConnections int `json:"max_user_connections,omitempty"`

	// Attributes is the JSON object of ATTRIBUTE and COMMENT, whose member is comment, as
	// JSON columns print it; "" for none.
	Attributes string `json:"attributes,omitempty"`
}

// Setting is a system variable of SET PERSIST.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // as text
	// At is the time of SET in seconds since 1970, User and Host the account.
	At   int64  `json:"at"`
	User string `json:"user"`
	Host string `json:"host"`
}

// Snapshot is a version of the catalog. It is immutable.
type Snapshot struct {
	version   uint64
	databases map[string]*database
	accounts  []*Account // most specific host first
	byID      map[schema.TableID]*schema.Table
	viewByID  map[schema.TableID]*schema.View
	children  map[tableName][]*schema.Table
	settings  map[string]Setting
	// privileges of all accounts; see Privileges
	privileges *priv.State
	marked     bool // by keyPrivileges
}

type database struct {
	desc   schema.Database
	tables map[string]*schema.Table
	views  map[string]*schema.View
}

func newDatabase() *database {
	return &database{tables: map[string]*schema.Table{}, views: map[string]*schema.View{}}
}

// Version grows with each change.
func (s *Snapshot) Version() uint64 { return s.version }

// Database finds a database by its exact name.
func (s *Snapshot) Database(name string) (*schema.Database, bool) {
	d := s.databases[name]
	if d == nil {
		return nil, false
	}
	return &d.desc, true
}

// Table finds a table by its exact name.
func (s *Snapshot) Table(db, name string) (*schema.Table, bool) {
	d := s.databases[db]
	if d == nil {
		return nil, false
	}
	t := d.tables[name]
	return t, t != nil
}

// TableByID finds a table; nil if none exists.
func (s *Snapshot) TableByID(id schema.TableID) *schema.Table { return s.byID[id] }

// Databases are all databases by name.
func (s *Snapshot) Databases() []*schema.Database {
	out := make([]*schema.Database, 0, len(s.databases))
	for _, d := range s.databases {
		out = append(out, &d.desc)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Tables are the tables of a database by name.
func (s *Snapshot) Tables(db string) []*schema.Table {
	d := s.databases[db]
	if d == nil {
		return nil
	}
	out := make([]*schema.Table, 0, len(d.tables))
	for _, t := range d.tables {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Accounts are all accounts.
func (s *Snapshot) Accounts() []*Account { return s.accounts }

// Account finds an account by exact user and host; nil if none exists.
func (s *Snapshot) Account(user, host string) *Account {
	for _, a := range s.accounts {
		if a.User == user && a.Host == host {
			return a
		}
	}
	return nil
}

// Catalog is the current snapshot and the way to change it.
type Catalog struct {
	store   storage.Store
	current atomic.Pointer[Snapshot]
	mu      sync.Mutex // one change at a time
	// shared is set for a catalog in memory: where ids come from.
	shared   *Catalog
	onChange func(s *Snapshot)
	upgraded []priv.Name
}

// Open loads the catalog of a store. A new store gets the account root@%
// without password (which the server lets in from loopback only).
func Open(ctx context.Context, store storage.Store) (*Catalog, error) {
	c := &Catalog{store: store}
	s, err := load(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("loading the catalog: %w", err)
	}
	c.current.Store(s)
	if s.marked {
		return c, nil
	}
	for _, a := range s.accounts {
		if s.privileges.Grants(a.Name()) == nil {
			c.upgraded = append(c.upgraded, a.Name())
		}
	}
	err = c.Change(ctx, func(ch *Change) error {
		if len(s.accounts) == 0 {
			root := &Account{User: "root", Host: "%", Plugin: "caching_sha2_password"}
			ch.PutAccount(root)
			ch.PutGrants(allPrivileges(root.Name()))
		}
		for _, n := range c.upgraded {
			ch.PutGrants(allPrivileges(n))
		}
		ch.puts[string([]byte{system, keyPrivileges})] = []byte{1}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Snapshot is the current version.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// IsCurrent reports whether t is the current descriptor of its table.
func (c *Catalog) IsCurrent(t *schema.Table) bool { return c.current.Load().byID[t.ID] == t }

func load(ctx context.Context, store storage.Store) (*Snapshot, error) {
	s := &Snapshot{version: 1, settings: map[string]Setting{}, databases: map[string]*database{}, byID: map[schema.TableID]*schema.Table{}, viewByID: map[schema.TableID]*schema.View{}}
	scan, err := store.Latest().Scan(ctx, storage.Span{Start: []byte{system}, End: []byte{system + 1}}, storage.ScanOptions{})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var tables []*schema.Table
	var views []*schema.View
	var grants []*priv.Grants
	var bad error
	_, err = scan.Visit(ctx, func(k, v []byte) bool {
		switch k[1] {
		case keyDatabase:
			d := newDatabase()
			bad = json.Unmarshal(v, &d.desc)
			s.databases[d.desc.Name] = d
		case keyTable:
			t := &schema.Table{}
			bad = json.Unmarshal(v, t)
			tables = append(tables, t)
		case keyView:
			view := &schema.View{}
			bad = json.Unmarshal(v, view)
			views = append(views, view)
		case keyAccount:
			a := &Account{}
			bad = json.Unmarshal(v, a)
			s.accounts = append(s.accounts, a)
		case keyPrivileges:
			s.marked = true
		case keyGrants:
			g := &priv.Grants{}
			bad = json.Unmarshal(v, g)
			grants = append(grants, g)
		case keySetting:
			var x Setting
			bad = json.Unmarshal(v, &x)
			s.settings[x.Name] = x
		}
		if bad != nil {
			bad = fmt.Errorf("%w: descriptor at %x: %v", storage.ErrCorruption, k, bad)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	for _, t := range tables {
		d := s.databases[t.Database]
		if d == nil {
			return nil, fmt.Errorf("%w: table %d belongs to unknown database %q", storage.ErrCorruption, t.ID, t.Database)
		}
		d.tables[t.Name] = t
		s.byID[t.ID] = t
	}
	for _, v := range views {
		d := s.databases[v.Database]
		if d == nil {
			return nil, fmt.Errorf("%w: view %d belongs to unknown database %q", storage.ErrCorruption, v.ID, v.Database)
		}
		d.views[v.Name] = v
		s.viewByID[v.ID] = v
	}
	sortAccounts(s.accounts)
	s.privileges = priv.NewState(s.withEach(grants), nil)
	s.findChildren()
	return s, nil
}

// Change is a set of changes to the catalog that is committed as one.
type Change struct {
	// Base is the snapshot that is changed.
	Base *Snapshot
	next *Snapshot
	puts map[string][]byte // nil deletes
	// grants that changed; nil for an account that is gone.
	grants map[priv.Name]*priv.Grants
	// accounts that changed must be sorted again.
	accounts bool
	err      error
	id       uint64
	// replaced and emptied: see Replace.
	replaced map[schema.TableID]*schema.Table
	emptied  map[schema.TableID]bool
	// shared gives out the ids of a catalog in memory.
	shared *Catalog
	ctx    context.Context
}

// Change runs fn and commits what it did, durably; then the new snapshot is
// published. An error of fn changes nothing.
func (c *Catalog) Change(ctx context.Context, fn func(ch *Change) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared != nil {
		return c.changeTemporary(ctx, fn)
	}
	txn, err := c.store.Begin(ctx, storage.TxnOptions{Label: "catalog"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	// The number of the next table stands for the whole catalog.
	if err := storage.LockOutside(ctx, c.store, txn, []byte{system, keyNextID}); err != nil {
		return err
	}
	base := c.current.Load()
	ch := &Change{Base: base, next: base.clone(), puts: map[string][]byte{}}
	if err := ch.loadID(ctx, c.store); err != nil {
		return err
	}
	if err := errors.Join(fn(ch), ch.err); err != nil {
		return err
	}
	if len(ch.puts) == 0 {
		return nil
	}
	for k, v := range ch.puts {
		if v == nil {
			err = txn.Delete(ctx, []byte(k))
		} else {
			err = txn.Put(ctx, []byte(k), v)
		}
		if err != nil {
			return err
		}
	}
	if err := ch.noteTables(ctx, txn); err != nil {
		return err
	}
	if _, err := txn.Commit(ctx); err != nil {
		return fmt.Errorf("changing the catalog: %w", err)
	}
	if ch.accounts {
		sortAccounts(ch.next.accounts)
	}
	ch.next.privileges = ch.Privileges()
	ch.next.findChildren()
	c.current.Store(ch.next)
	if c.onChange != nil {
		c.onChange(ch.next)
	}
	return nil
}

// OnChange has fn called with each new snapshot, before the change that made it
// returns. It must be set before there are changes.
func (c *Catalog) OnChange(fn func(s *Snapshot)) { c.onChange = fn }

func (s *Snapshot) clone() *Snapshot {
	n := &Snapshot{version: s.version + 1, databases: make(map[string]*database, len(s.databases)), byID: make(map[schema.TableID]*schema.Table, len(s.byID)),
		viewByID: maps.Clone(s.viewByID), settings: maps.Clone(s.settings), privileges: s.privileges}
	for name, d := range s.databases {
		c := &database{desc: d.desc, tables: make(map[string]*schema.Table, len(d.tables)), views: maps.Clone(d.views)}
		for k, t := range d.tables {
			c.tables[k] = t
		}
		n.databases[name] = c
	}
	for id, t := range s.byID {
		n.byID[id] = t
	}
	n.accounts = append([]*Account(nil), s.accounts...)
	return n
}

func (ch *Change) loadID(ctx context.Context, store storage.Store) error {
	v, err := store.Latest().Get(ctx, []byte{system, keyNextID}, nil)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		ch.id = firstTableID
	case err != nil:
		return err
	case len(v) != 8:
		return fmt.Errorf("%w: next table id", storage.ErrCorruption)
	default:
		ch.id = binary.BigEndian.Uint64(v)
	}
	return nil
}

func (ch *Change) put(key []byte, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		ch.err = errors.Join(ch.err, err)
		return
	}
	ch.puts[string(key)] = b
}

// Current is the state with the changes made so far.
func (ch *Change) Current() *Snapshot { return ch.next }

// NextTableID reserves a table id.
func (ch *Change) NextTableID() schema.TableID {
	if ch.shared != nil {
		var id schema.TableID
		ch.err = errors.Join(ch.err, ch.shared.Change(ch.ctx, func(x *Change) error {
			id = x.NextTableID()
			return nil
		}))
		return id
	}
	id := ch.id
	ch.id++
	ch.puts[string([]byte{system, keyNextID})] = binary.BigEndian.AppendUint64(nil, ch.id)
	return schema.TableID(id)
}

func databaseKey(name string) []byte { return append([]byte{system, keyDatabase}, name...) }

func tableKey(id schema.TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{system, keyTable}, uint32(id))
}

func accountKey(user, host string) []byte {
	return append(append(append([]byte{system, keyAccount}, user...), 0), host...)
}

// PutDatabase creates or replaces a database descriptor.
func (ch *Change) PutDatabase(d schema.Database) {
	old := ch.next.databases[d.Name]
	if old == nil {
		old = newDatabase()
	}
	ch.next.databases[d.Name] = &database{desc: d, tables: old.tables, views: old.views}
	ch.put(databaseKey(d.Name), d)
}

// DropDatabase removes a database and the descriptors of its tables and views.
func (ch *Change) DropDatabase(name string) {
	d := ch.next.databases[name]
	if d == nil {
		return
	}
	for _, t := range d.tables {
		ch.DropTable(t)
	}
	for _, v := range d.views {
		ch.DropView(v)
	}
	delete(ch.next.databases, name)
	ch.puts[string(databaseKey(name))] = nil
}

// PutTable creates or replaces a table, also under another name or database;
// t becomes part of the snapshot and must not change any more.
func (ch *Change) PutTable(t *schema.Table) {
	if old := ch.next.byID[t.ID]; old != nil {
		delete(ch.next.databases[old.Database].tables, old.Name)
	}
	ch.next.databases[t.Database].tables[t.Name] = t
	ch.next.byID[t.ID] = t
	ch.put(tableKey(t.ID), t)
}

// DropTable removes a table's descriptor.
func (ch *Change) DropTable(t *schema.Table) {
	if d := ch.next.databases[t.Database]; d != nil && d.tables[t.Name] != nil && d.tables[t.Name].ID == t.ID {
		delete(d.tables, t.Name)
	}
	delete(ch.next.byID, t.ID)
	ch.puts[string(tableKey(t.ID))] = nil
}

// PutAccount creates or replaces an account.
//
// A new one has no privileges.
func (ch *Change) PutAccount(a *Account) {
	ch.removeAccount(a.User, a.Host)
	ch.next.accounts = append(ch.next.accounts, a)
	ch.put(accountKey(a.User, a.Host), a)
	if ch.Grants(a.Name()) == nil {
		ch.PutGrants(&priv.Grants{Name: a.Name()})
	}
}

// DropAccount removes an account with its grants, also as a role of others.
func (ch *Change) DropAccount(user, host string) {
	ch.removeAccount(user, host)
	ch.puts[string(accountKey(user, host))] = nil
	ch.dropGrants(priv.Name{User: user, Host: host})
}

func (ch *Change) removeAccount(user, host string) {
	ch.accounts = true
	list := ch.next.accounts[:0:0]
	for _, a := range ch.next.accounts {
		if a.User != user || a.Host != host {
			list = append(list, a)
		}
	}
	ch.next.accounts = list
}

// Settings are the persisted system variables by name; they are not to be
// changed.
func (s *Snapshot) Settings() map[string]Setting { return s.settings }

func settingKey(name string) []byte { return append([]byte{system, keySetting}, name...) }

// PutSetting creates or replaces a persisted variable.
func (ch *Change) PutSetting(x Setting) {
	ch.next.settings[x.Name] = x
	ch.put(settingKey(x.Name), x)
}

// DropSetting removes a persisted variable.
func (ch *Change) DropSetting(name string) {
	delete(ch.next.settings, name)
	ch.puts[string(settingKey(name))] = nil
}
