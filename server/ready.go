package server

// NotReady are the reasons not to send clients to this server, none if it is ready. Each
// begins with a word that does not change: starting, stopping, writes, damaged.
func (s *Server) NotReady() (reasons []string) {
	switch {
	case s.stopping.Load():
		return []string{"stopping"}
	case !s.opened.Load():
		return []string{"starting"}
	}
	if w, ok := s.store.(interface{ Writable() error }); ok {
		if err := w.Writable(); err != nil {
			reasons = append(reasons, "writes are refused: "+err.Error())
		}
	}
	damaged := s.engine.Damaged.Load()
	if d, ok := s.store.(interface{ DamagedFiles() int64 }); ok {
		damaged = damaged || d.DamagedFiles() > 0
	}
	if damaged {
		reasons = append(reasons, "damaged: damage was found in a file")
	}
	return reasons
}

// CheckAlive returns soon if the server can look at its connections and its store. One that
// hangs does not return.
func (s *Server) CheckAlive() {
	s.engine.Processes.Sum()
	s.engine.Metrics.Global()
	s.store.Seq()
}
