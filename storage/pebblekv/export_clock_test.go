package pebblekv

// SetClock makes the latest time that a commit got micros.
func SetClock(s *Store, micros int64) {
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	s.clock.Last = micros
}
