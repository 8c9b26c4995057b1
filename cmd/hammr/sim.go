package main

import "github.com/spf13/cobra"

func newSim() *cobra.Command {
	return group(&cobra.Command{
		Use:     "sim",
		Short:   "Schedulers in virtual time",
		Example: "  hammr sim fluid --discipline psbs --jobs jobs.csv --out sojourns.csv",
	}, newSimFluid())
}
