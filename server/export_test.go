package server

// OpenConnections is the number of connections that have not ended.
func (s *Server) OpenConnections() int { return s.wire.Connections() }
