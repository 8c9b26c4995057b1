// Package examples lists the bundled programs. Each is a package of its own,
// written only on package mr as a user would write it.
package examples

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hammr/hammr/examples/benchmarks"
	"github.com/hammr/hammr/examples/broadcastjoin"
	"github.com/hammr/hammr/examples/distinct"
	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/histogram"
	"github.com/hammr/hammr/examples/invertedindex"
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/examples/kmeans"
	"github.com/hammr/hammr/examples/mean"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/examples/pagerankdag"
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/examples/sort"
	"github.com/hammr/hammr/examples/streamcount"
	"github.com/hammr/hammr/examples/topn"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/examples/wordcountpipe"
	"github.com/hammr/hammr/mr"
)

// Programs returns the bundled programs, with the benchmarks, in order of name, small letters
// or not. hammr run finds a program here by its name:
//
//	hammr run wordcount in out
//	hammr run                       # lists them
//
// To write a program of your own, copy the program that is most similar: wordcount for
// counting, join for two inputs, grep for a chain of jobs, streamcount for a graph, and
// secondarysort for the order of values. The main package cmd/wordcount builds a command of
// its own:
//
//	go build ./examples/cmd/wordcount
//	./wordcount in out
func Programs() []*mr.Program {
	all := append(benchmarks.Programs(),
		broadcastjoin.Program(),
		distinct.Program(),
		grep.Program(),
		histogram.Program(),
		invertedindex.Program(),
		join.Program(),
		kmeans.Program(),
		mean.Program(),
		pagerank.Program(),
		pagerankdag.Program(),
		secondarysort.Program(),
		sort.Program(),
		streamcount.Program(),
		topn.Program(),
		wordcount.Program(),
		wordcountpipe.Program(),
	)
	slices.SortFunc(all, func(a, b *mr.Program) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}
