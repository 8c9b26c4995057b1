// Package scaffold is `hammr new`: it writes a program of one job with its test, as a module
// that builds and passes its test. Or it writes a scheduling policy, and a program that is hammr with it.
//
//	project, err := scaffold.New(scaffold.Config{Dir: "mywords"})
//
// The directory then has
//
//	go.mod        what a program needs, 32 lines or fewer
//	go.sum        of the source tree, if the module uses one
//	main.go       a mapper, a reducer and mr.Main
//	main_test.go  the job on a few lines of input, by mr/mrtest
//	README.md     the commands to build, test and run it
//	.gitignore
//
// and for a policy, in place of the job,
//
//	main.go                the whole hammr, with the policy in it
//	policy/policy.go       the policy, which programs of other modules can import
//	policy/policy_test.go  decisions on a small cluster, and the contract of policies by sim/verify
//
// The new module needs Hammr. It uses a source tree on this machine if there is one: the
// tree around the current directory or around the new one, or the tree that the running
// binary was built from. A replace directive names the tree, and the versions of the modules
// that programs need come from its go.mod and go.sum, so nothing is downloaded. Otherwise
// the module requires the version of the running binary, and `go mod tidy` has to fetch it.
package scaffold
