// Package cli has the commands of hammr: the bundled programs, the file system shell,
// the daemons of a cluster with the commands that operate it, the simulator, experiments,
// and a generator for new programs. cmd/hammr is the program.
//
// The package holds flags and printing. A command turns its flags into the Config of a
// package, calls it, and prints the result; what it decides is decided there. A noun has a
// file with the list of its verbs (job.go), and each verb, or a few of a kind, a file
// (job_list.go). A file says which daemon its command asks and which exit code it has, if
// that is not the usual one:
//
//	0    done
//	1    refused, failed, or no answer
//	2    a wrong command line, or input that a user can correct
//	130  Ctrl-C, SIGTERM, or SIGHUP unless it is ignored
//
// # Where what is
//
//	main.go                        what a program calls
//	root.go                        the tree of commands, exit codes, arguments and flags
//	cluster_command.go             commands that ask a cluster, and the steps to add one
//	job*, task, node*, master,
//	queue, scheduler               their nouns
//	ui                             the web pages of a cluster
//	doctor*                        checks of this machine and of a cluster
//	run, submit, program_file,
//	dag, new                       programs
//	fs, conf, version              files and settings
//	jobmaster, tasknode, daemon    the daemons
//	up, down, dev                  clusters and an HDFS of this machine
//	cluster, cluster_start,
//	cluster_status, cluster_run    clusters of machines over ssh
//	allocation, slurm, oar         clusters inside of jobs of batch schedulers
//	sim*                           the simulator
//	bench*, chaos*                 experiments and drills
//
// # To add a verb
//
// A verb that asks a cluster follows the steps in cluster_command.go. Any other verb is a
// constructor that returns a cobra.Command, listed in newRoot or in the group of its noun:
//
//   - RunE is made by interruptible, or by checked if the command line is checked first.
//     Errors of the first become exit code 1; a usageError and all errors of flags 2.
//   - Short is an imperative phrase without a full stop, Example is there, and no line has
//     more than 80 characters: TestHelp checks this.
//   - A flag's usage names its argument in backquotes, and the default if it is not the
//     value of the flag.
//   - Results go to stdout, for scripts; progress and notices go to stderr.
package cli
