// Package sshcluster runs a cluster on the machines of a hostfile, which it reaches by ssh.
//
//	hostfile ─► Plan ─► scripts ── ssh ─► sh on each machine ─► daemons
//	              ▲                          │
//	              └── surveys ◄──────────────┘
//
// Nothing about the cluster is remembered here: each command first surveys the machines, and a
// Plan follows from the hostfile and the surveys. So a command that was interrupted is
// continued by the same command again. Config.TokenFile is the only file that it writes on
// this machine.
//
// A machine has one directory. Only the token in it is secret:
//
//	bin/hammr                   the program
//	cluster                     id of the cluster
//	host                        name of the machine in the hostfile
//	hosts                       the completed hostfile of the latest start
//	token                       the secret of the cluster
//	jobmaster.yaml              settings of a daemon
//	jobmaster/                  its files
//	jobmaster.log, .err         its log, and other output since its latest start
//	jobmaster.pid, .ready       its process, and its addresses once it is ready
//	tasknode.yaml …             the same for the tasknode
//	hadoop/                     jars, configuration and files of HDFS and YARN
//	lock                        locked while a script starts a daemon or stores a program
//	upgrading                   the tasknode is drained for an upgrade
//	suspended                   jobs that a stop has suspended
//
// All work on a machine is done by scripts of script.sh for a POSIX shell, which travel on the
// standard input of `sh -s`: no secret is on a command line. A daemon has a session of its
// own, so that it outlives the connection. It belongs to the cluster if its process has the
// settings' file of the directory on its command line.
//
// Start either ends with all daemons ready, or ends those that it has started.
package sshcluster
