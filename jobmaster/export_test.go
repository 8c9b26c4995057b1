package jobmaster

// Post makes the loop call do.
func (m *Master) Post(do func()) { m.post(do) }
