package mr_test

import (
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestGraphsOnACluster runs graphs on a cluster. Each task rebuilds the graph and compares
// it with the submitted one.
func TestGraphsOnACluster(t *testing.T) {
	graphs := countingGraphs()
	delete(graphs, "stream") // streams between processes need the tasknodes' servers
	in := inputDir(t, lines(2000), lines(50))
	options := []string{"-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000"}
	want := outputDir(t)
	mrtest.Command(t, wordCount(), append(options, in, want)...)
	for name, d := range graphs {
		t.Run(name, func(t *testing.T) {
			c := newTestCluster(t, d)
			got := outputDir(t)
			mrtest.Command(t, d, append([]string{"--master", c.address, "--token-file", c.tokenFile}, append(options, in, got)...)...)
			files := filesIn(t, want)
			delete(files, "_SUCCESS")
			wantFiles(t, got, files)
		})
	}
}

// TestGraphOfAnotherBinary checks that a binary with another graph is refused. The error
// names the stages that differ.
func TestGraphOfAnotherBinary(t *testing.T) {
	graphs := countingGraphs()
	c := newTestCluster(t, graphs["two rounds"])
	fails(t, graphs["pipe"], mr.ExitFailed, []string{"--master", c.address, "--token-file", c.tokenFile, inputDir(t, "a\n"), outputDir(t)},
		"job count: this binary is not the one that submitted it: submitted with stage \"combine\" 1 reduce",
		"here with stage \"first\" 3 reduce", "submitted with edge \"words\" -> \"combine\" shm one-to-one")
}

// TestValuesOfALiveGroupAreInOrder streams values from several Nodes at once. They arrive in
// the same order as in a job with a shuffle.
func TestValuesOfALiveGroupAreInOrder(t *testing.T) {
	in := inputDir(t, pairLines(4000), pairLines(500))
	options := []string{"-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=10000",
		"-D", "mapreduce.task.io.sort.mb=1", "--workers=16", in}
	job := mr.New("lists", mr.TextStrings(), pairs, lists, mr.TextOutput[string, string]())
	want := outputDir(t)
	mrtest.Command(t, job, append(options, want)...)
	d := mr.Define("lists", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "read", mr.TextStrings(), pairs)
		mr.Write(mr.Group(g, "lists", lists, read.Stream(mr.AllToAll)), mr.TextOutput[string, string]())
	})
	got := outputDir(t)
	mrtest.Command(t, d, append(options, got)...)
	for _, part := range []string{"part-r-00000", "part-r-00001"} {
		if filesIn(t, got)[part] != filesIn(t, want)[part] {
			t.Errorf("%s differs", filepath.Join(got, part))
		}
	}
}

func pairLines(n int) string {
	b := make([]byte, 0, 16*n)
	for i := range n {
		b = append(b, 'k', byte('a'+i*i%26), ' ', 'v')
		b = append(b, byte('0'+i/1000), byte('0'+i/100%10), byte('0'+i/10%10), byte('0'+i%10), '\n')
	}
	return string(b)
}
