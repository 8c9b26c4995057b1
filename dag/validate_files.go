package dag

// checkFiles refuses an edge that cannot read the files of another. Both must divide what
// the writer emits in the same way, and keep it in the same place.
func (g Graph) checkFiles(report errorFunc) {
	places := g.stageIndexes()
	for i, e := range g.Edges {
		if e.FilesOf == "" {
			continue
		}
		owner := g.Edges[g.Files(i)]
		to, known := places[e.To]
		other, also := places[owner.To]
		switch {
		case owner.FilesOf != "" || owner.To == e.To:
			report("edge %v: reads the files of %q, and %q has none for it; name a stage that has files of its own", e, e.FilesOf, e.From)
		case e.Channel != ChannelFile || owner.Channel != ChannelFile:
			report("edge %v: reads the files of %q over %v; only files are written once for several readers", e, e.FilesOf, e.Channel)
		case e.Connection == PerMachine || e.divides() != owner.divides():
			report("edge %v: %v, and the files of %q are %v; give it files of its own", e, e.Connection, e.FilesOf, owner.Connection)
		case e.divides() && known && also && g.Stages[to].Nodes != g.Stages[other].Nodes:
			report("edge %v: %d nodes, and the files of %q have a partition for each of %d; give it files of its own, or as many nodes", e, g.Stages[to].Nodes, e.FilesOf, g.Stages[other].Nodes)
		case e.Stored != owner.Stored:
			report("edge %v: stored is %v, and the files of %q have %v; set both alike", e, e.Stored, e.FilesOf, owner.Stored)
		}
	}
}

// divides reports whether the files of the edge have a partition for each reader.
func (e Edge) divides() bool { return e.Connection == AllToAll }
