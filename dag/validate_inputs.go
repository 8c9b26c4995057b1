package dag

// input is one of the names under which a stage's program reads.
type input struct{ stage, name string }

// checkInputs compares the edges into each stage with the inputs of its program.
func (g Graph) checkInputs(fault errorFunc) {
	writers := g.checkWriters(fault)
	listed := make(map[input]bool)
	for _, s := range g.Stages {
		for _, name := range s.Inputs {
			in := input{s.Name, name}
			_, written := writers[in]
			switch {
			case listed[in]:
				fault("stage %q: input %q listed twice", s.Name, name)
			case !written:
				fault("stage %q: nothing leads into its input %q", s.Name, name)
			}
			listed[in] = true
		}
	}
	places := g.stageIndexes()
	for _, e := range g.Edges {
		if to, known := places[e.To]; known && len(g.Stages[to].Inputs) > 0 && !listed[input{e.To, e.InputName()}] {
			fault("edge %v: %q has no input %q; it has %q", e, e.To, e.InputName(), g.Stages[to].Inputs)
		}
	}
}

// checkWriters returns the stage that writes to each input. A second stage that does is an
// error.
func (g Graph) checkWriters(fault errorFunc) map[input]string {
	writers := make(map[input]string, len(g.Edges))
	for _, e := range g.Edges {
		in := input{e.To, e.InputName()}
		if other, taken := writers[in]; taken && other != e.From {
			fault("edge %v: %q writes to input %q of %q already", e, other, in.name, e.To)
			continue
		}
		writers[in] = e.From
	}
	return writers
}
