package task

// NotResumable says that nobody can go on where this attempt is: it works on when it
// is told to stop or to pause. It is called by the goroutine of the Node before it
// takes the first record.
func (n *Node) NotResumable() { n.group.pausable = false }
