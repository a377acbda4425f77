package tikvkv

import "time"

// WithLease gives the lease of Join another time, and another pause between renewals.
func (o Options) WithLease(lease, renew time.Duration) Options {
	o.lease, o.renew = lease, renew
	return o
}

// ShortConnect makes the wait for a cluster short until the returned function is called.
func ShortConnect(d time.Duration) (restore func()) {
	old := connectPatience
	connectPatience = d
	return func() { connectPatience = old }
}

// Stop ends the renewals, as the end of the process does: the record stays.
func (s *Store) Stop() {
	s.member.once.Do(func() { s.member.end() })
	s.member.done.Wait()
}
