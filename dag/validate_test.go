package dag

import (
	"slices"
	"strings"
	"testing"
)

// refused is a graph with the exact list of errors that Validate reports for it.
type refused struct {
	name  string
	graph Graph
	want  []string
}

func (c refused) check(t *testing.T) {
	t.Helper()
	got := strings.Split(errorText(c.graph.Validate()), "\n")
	if !slices.Equal(got, c.want) {
		t.Errorf("%s:\n  %s\nwant\n  %s", c.name, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
	}
}

// chain returns a graph with one stage of n Nodes for each letter of names.
func chain(n int, names string, edges ...Edge) Graph {
	g := Graph{Edges: edges}
	for _, name := range names {
		g.Stages = append(g.Stages, Stage{Name: string(name), Nodes: n})
	}
	return g
}

func TestSamplesAreValid(t *testing.T) {
	for name, g := range samples() {
		if err := g.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNamesOfStagesAreUsableInFileNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Rank-2.b_c": true, "0": true, strings.Repeat("a", 100): true,
		"a/b": false, "..": false, ".a": false, "_a": false, "-a": false, "a b": false, "ä": false, "a\n": false, "a:b": false,
		strings.Repeat("a", 101): false,
	} {
		err := Graph{Stages: []Stage{{Name: name, Nodes: 1}}}.Validate()
		if (err == nil) != want {
			t.Errorf("stage %q: %v", name, err)
		}
	}
}

func TestInputsAreThoseOfTheProgram(t *testing.T) {
	reads := func(inputs ...string) Graph {
		g := chain(2, "abj", Edge{From: "a", To: "j", Input: "small"}, Edge{From: "b", To: "j"})
		g.Stages[2].Inputs = inputs
		return g
	}
	if err := reads("b", "small").Validate(); err != nil {
		t.Error(err)
	}
	twice := reads()
	twice.Edges[1].Input = "small"
	source := chain(1, "a")
	source.Stages[0].Inputs = []string{"x"}
	for _, c := range []refused{
		{"missing", reads("b", "small", "big"), []string{`dag: stage "j": nothing leads into its input "big"`}},
		{"left over", reads("small"), []string{`dag: edge "b" -> "j": "j" has no input "b"; it has ["small"]`}},
		{"listed twice", reads("b", "small", "b"), []string{`dag: stage "j": input "b" listed twice`}},
		{"two writers", twice, []string{`dag: edge "b" -> "j": "a" writes to input "small" of "j" already`}},
		{"source", source, []string{`dag: stage "a": nothing leads into its input "x"`}},
	} {
		c.check(t)
	}
}

func TestCombinesPerMachine(t *testing.T) {
	in := Edge{From: "a", To: "b", Connection: PerMachine}
	for _, c := range []refused{
		{"over tcp", chain(2, "abc", Edge{From: "a", To: "b", Connection: PerMachine, Channel: ChannelTCP}, Edge{From: "b", To: "c"}), []string{
			`dag: edge "a" -> "b": per-machine over tcp; only files exist once it is known where writers ran`,
		}},
		{"over shm", chain(2, "abc", Edge{From: "a", To: "b", Connection: PerMachine, Channel: ChannelSHM}, Edge{From: "b", To: "c"}), []string{
			`dag: edge "a" -> "b": per-machine over shm; only files exist once it is known where writers ran`,
			`dag: edge "a" -> "b": shared memory at a stage that combines per machine; its nodes cannot share a process`,
		}},
		{"as output", chain(2, "ab", in), []string{
			`dag: stage "b": no stage reads what it combines per machine; as output it would depend on where tasks ran`,
		}},
		{"one-to-one after", chain(2, "abc", in, Edge{From: "b", To: "c", Connection: OneToOne}), []string{
			`dag: edge "b" -> "c": one-to-one after a combine per machine; only all-to-all, broadcast and gather read every machine's part`,
		}},
		{"others into it", chain(2, "abcd", in, Edge{From: "c", To: "b"}, Edge{From: "b", To: "d"}), []string{
			`dag: edge "c" -> "b": all-to-all into a stage that combines per machine; a machine without writers would lose it`,
		}},
		{"shm after", chain(2, "abc", in, Edge{From: "b", To: "c", Channel: ChannelSHM}), []string{
			`dag: edge "b" -> "c": shared memory at a stage that combines per machine; its nodes cannot share a process`,
		}},
	} {
		c.check(t)
	}
}

func TestBundlesThatWaitForThemselves(t *testing.T) {
	shm := func(from, to string) Edge { return Edge{From: from, To: to, Channel: ChannelSHM, Connection: OneToOne} }
	tcp := func(from, to string) Edge { return Edge{From: from, To: to, Channel: ChannelTCP} }
	file := func(from, to string) Edge { return Edge{From: from, To: to} }
	for _, c := range []refused{
		{"own file in a group", chain(2, "abc", shm("a", "b"), shm("b", "c"), file("a", "c")), []string{
			`dag: edge "a" -> "c": group {a, b, c} waits for a file that it writes itself`,
		}},
		{"own file in a gang", chain(2, "abc", tcp("a", "b"), tcp("b", "c"), file("a", "c")), []string{
			`dag: edge "a" -> "c": bundle {a, b, c} waits for a file that it writes itself`,
		}},
		{"by way of another", chain(2, "abc", shm("a", "c"), file("a", "b"), file("b", "c")), []string{
			`dag: cycle of files: group {b} waits for "a" -> "b", group {a, c} waits for "b" -> "c"`,
		}},
		{"two gangs", chain(2, "abcd", tcp("a", "b"), tcp("c", "d"), file("a", "d"), file("c", "b")), []string{
			`dag: cycle of files: bundle {c, d} waits for "a" -> "d", bundle {a, b} waits for "c" -> "b"`,
		}},
		{"after other errs", chain(2, "abc", shm("a", "b"), file("a", "b"), file("x", "c")), []string{
			`dag: edge "a" -> "b": stages joined twice`, `dag: edge "x" -> "c": no stage "x"`,
			`dag: edge "a" -> "b": group {a, b} waits for a file that it writes itself`,
		}},
	} {
		c.check(t)
	}
	if err := chain(0, "abc", shm("a", "c"), file("a", "b"), file("b", "c")).Validate(); err != nil {
		t.Errorf("stages without nodes wait for nothing: %v", err)
	}
}
