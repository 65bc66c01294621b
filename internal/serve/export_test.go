package serve

// Waiting returns how many clients wait for the check of a run.
func (s *Server) Waiting(path string) int {
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	if x := s.checks.flights[path]; x != nil {
		return x.waiting
	}
	return 0
}

// Followed returns how many runs are followed.
func (s *Server) Followed() int {
	s.live.Lock()
	defer s.live.Unlock()
	return len(s.followers)
}
