package storage

// OpenFileSystems returns how many file systems a Router keeps.
func OpenFileSystems(r *Router) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.mu.open)
}

// Match reports whether the pattern matches the whole path.
func (p *Pattern) Match(name string) bool {
	names := splitNames(name)
	for _, components := range p.alternatives {
		if matchNames(components, names) {
			return true
		}
	}
	return false
}

// matchNames reports whether each component matches the name at its place. A component never
// matches a slash.
func matchNames(components []component, names []string) bool {
	if len(components) != len(names) {
		return false
	}
	for i, c := range components {
		if !c.match(names[i]) {
			return false
		}
	}
	return true
}
