package tikvkv

import "time"

// ShortLease makes leases short until the returned function is called.
func ShortLease(lease, renew time.Duration) (restore func()) {
	oldLease, oldRenew := leaseTime, renewEvery
	leaseTime, renewEvery = lease, renew
	return func() { leaseTime, renewEvery = oldLease, oldRenew }
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
