// Package remote is the docs.Source of a cluster elsewhere: it asks the REST API of the masters, at their
// RPC addresses, since their pages may be reachable from their own machines only.
//
//	source, err := remote.New(remote.Config{RPC: rpc.Config{Masters: …, Token: …}})
//	defer source.Close()
//
// Any master answers, and the same one while it does. If it does not answer, or is cut off from the
// others, the next one is asked. Answers are shared among readers (package internal/source/answers).
package remote
