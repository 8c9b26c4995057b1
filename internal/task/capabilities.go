package task

// What user code has that no checkpoint can hold keeps the whole group from being paused.
// Its functions say so before they take the first record.

// NotResumable says that nobody can go on where this attempt is: it works on when it
// is told to stop or to pause.
func (n *NodeRun) NotResumable() {
	n.group.keeps.Store(true)
	n.group.whole.Store(true)
}

// NotCheckpointable says that what the Node carries from one record to the next is lost with the
// attempt: it works on when it is told to pause.
func (n *NodeRun) NotCheckpointable() { n.group.keeps.Store(true) }

// mayPause reports whether an attempt can write a checkpoint.
func (g *groupRun) mayPause() bool { return !g.keeps.Load() }

// mayCut reports whether what the attempt leaves can be another task: it is a map that
// writes files.
func (g *groupRun) mayCut() bool {
	return !g.whole.Load() && g.single() && g.nodes[0].source != nil && len(fileChannels(g.nodes[0].outputs)) == len(g.nodes[0].outputs)
}
