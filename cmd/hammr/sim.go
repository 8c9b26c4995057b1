package main

import "github.com/spf13/cobra"

func newSim() *cobra.Command {
	return group(&cobra.Command{
		Use:   "sim",
		Short: "Schedulers in virtual time",
		Example: "  hammr sim run --workload jobs.csv --policy fifo --nodes 100 --out results\n" +
			"  hammr sim whatif --history histories --policy hfsp --nodes 20\n" +
			"  hammr sim fluid --discipline psbs --jobs jobs.csv --out sojourns.csv",
	}, newSimRun(), newSimWhatif(), newSimFluid())
}
