package main

import "github.com/spf13/cobra"

func newBench() *cobra.Command {
	return group(&cobra.Command{
		Use:     "bench",
		Short:   "Experiments, and what they are held against",
		Example: "  hammr bench paper hammr --sim --out results",
	}, newBenchPaper(), newBenchPreemption(), newBenchReplay(), newBenchSchedulers())
}
