package task

// User code may have state that no checkpoint holds. It says so before it takes the first
// record; then the whole group cannot be checkpointed.

// NotResumable says that no other attempt can continue this one. The attempt ignores
// orders to split and to write a checkpoint.
func (n *NodeRun) NotResumable() {
	n.group.notCheckpointable.Store(true)
	n.group.notSplittable.Store(true)
}

// NotCheckpointable says that what the Node carries from one record to the next is lost
// with the attempt. The attempt ignores orders to write a checkpoint.
func (n *NodeRun) NotCheckpointable() { n.group.notCheckpointable.Store(true) }

// canCheckpoint reports whether the attempt can write a checkpoint.
func (g *groupRun) canCheckpoint() bool { return !g.notCheckpointable.Load() }

// canSplit reports whether the rest of the attempt's range can become another task: it
// is a map alone in its group that writes files.
func (g *groupRun) canSplit() bool {
	return !g.notSplittable.Load() && g.single() && g.nodes[0].source != nil && len(fileChannels(g.nodes[0].outputs)) == len(g.nodes[0].outputs)
}
