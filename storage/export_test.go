package storage

// OpenFileSystems returns how many file systems a Router keeps.
func OpenFileSystems(r *Router) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.mu.open)
}
