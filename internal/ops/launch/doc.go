// Package launch has what all starters of clusters share: `hammr up` (package localcluster),
// `hammr cluster` (sshcluster), and `hammr slurm` and `hammr oar` (allocation).
//
//	names, secret, ports ─► Cluster ── Daemon ─► Settings ─┬─ Flags ─► Start ─► Child ─► AwaitReady
//	                                                       └─ YAML  ─► a daemon of another machine
//
// A Cluster has what all its daemons must agree on. From it and from the place of a Daemon
// follow the settings that a starter decides; the user's come on top of them.
//
// InOrder starts a cluster step by step, and undoes the steps if one fails.
//
// The package remembers nothing: what runs is the knowledge of the starter. Goroutines: one for
// each Child, which waits for its end.
package launch
