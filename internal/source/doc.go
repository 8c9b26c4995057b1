// Package source holds what answers documents (package docs): the state of a master, a client that asks the leader
// or a REST API, and directories of histories. Pages, the REST API and commands read them and nothing else of a cluster.
package source
