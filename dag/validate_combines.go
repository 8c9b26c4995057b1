package dag

// checkCombines refuses graphs that a stage which combines per machine cannot serve. Its
// Nodes run on different machines, and the records of one of them depend on where the
// writers happened to run.
func (g Graph) checkCombines(fault errorFunc) {
	combines := make(map[string]bool)
	read := make(map[string]bool)
	for _, e := range g.Edges {
		read[e.From] = true
		if e.Connection != PerMachine {
			continue
		}
		combines[e.To] = true
		if e.Channel != ChannelFile {
			fault("edge %v: per-machine over %v; only files exist once it is known where writers ran", e, e.Channel)
		}
	}
	for _, e := range g.Edges {
		if combines[e.To] && e.Connection != PerMachine && e.Connection != Broadcast {
			fault("edge %v: %v into a stage that combines per machine; a machine without writers would lose it", e, e.Connection)
		}
		if combines[e.From] && (e.Connection == OneToOne || e.Connection == PerMachine) {
			fault("edge %v: %v after a combine per machine; only all-to-all, broadcast and gather read every machine's part", e, e.Connection)
		}
		if e.Channel == ChannelSHM && (combines[e.From] || combines[e.To]) {
			fault("edge %v: shared memory at a stage that combines per machine; its nodes cannot share a process", e)
		}
	}
	for _, s := range g.Stages {
		if combines[s.Name] && !read[s.Name] {
			fault("stage %q: no stage reads what it combines per machine; as output it would depend on where tasks ran", s.Name)
		}
	}
}
