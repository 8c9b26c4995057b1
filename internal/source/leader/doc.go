// Package leader asks the leader of a cluster what no other master knows: why jobs wait, tasknodes,
// pools and the policy. It also passes changes on to the leader, and reads logs:
//
//	source, err := leader.New(leader.Config{RPC: rpc.Config{Masters: …, Token: …}})
//	defer source.Close()
//
// It is a part of the docs.Source of a master (package internal/source/board). Its answers are shared among
// readers (package internal/source/answers).
package leader
