// Package examples lists the bundled programs. Each is a package of its own,
// written only on package mr as a user would write it.
package examples

import (
	"github.com/hammr/hammr/examples/broadcastjoin"
	"github.com/hammr/hammr/examples/distinct"
	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/histogram"
	"github.com/hammr/hammr/examples/invertedindex"
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/examples/kmeans"
	"github.com/hammr/hammr/examples/mean"
	"github.com/hammr/hammr/examples/mrbench"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/examples/pagerankdag"
	"github.com/hammr/hammr/examples/randomtextwriter"
	"github.com/hammr/hammr/examples/randomwriter"
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/examples/sleep"
	"github.com/hammr/hammr/examples/sort"
	"github.com/hammr/hammr/examples/streamcount"
	"github.com/hammr/hammr/examples/teragen"
	"github.com/hammr/hammr/examples/terasort"
	"github.com/hammr/hammr/examples/teravalidate"
	"github.com/hammr/hammr/examples/testdfsio"
	"github.com/hammr/hammr/examples/topn"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/examples/wordcountpipe"
	"github.com/hammr/hammr/mr"
)

// Programs returns the bundled programs, in order of name, small letters or not. hammr run
// finds a program here by its name:
//
//	hammr run wordcount in out
//	hammr run                       # lists them
//
// To write a program of your own, copy the program that is most similar: wordcount for
// counting, join for two inputs, grep for a chain of jobs, streamcount for a graph, and
// secondarysort for the order of values. Each program has a main package below cmd, which
// builds a command of its own:
//
//	go build ./examples/cmd/wordcount
//	./wordcount in out
func Programs() []*mr.Program {
	return []*mr.Program{
		broadcastjoin.Program(),
		distinct.Program(),
		grep.Program(),
		histogram.Program(),
		invertedindex.Program(),
		join.Program(),
		kmeans.Program(),
		mean.Program(),
		mrbench.Program(),
		pagerank.Program(),
		pagerankdag.Program(),
		randomtextwriter.Program(),
		randomwriter.Program(),
		secondarysort.Program(),
		sleep.Program(),
		sort.Program(),
		streamcount.Program(),
		teragen.Program(),
		terasort.Program(),
		teravalidate.Program(),
		testdfsio.Program(),
		topn.Program(),
		wordcount.Program(),
		wordcountpipe.Program(),
	}
}
