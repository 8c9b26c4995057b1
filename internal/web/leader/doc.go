// Package leader is a web.Source that asks the masters, as commands do:
//
//	source, err := leader.New(leader.Config{RPC: rpc.Config{Masters: …, Token: …}})
//	defer source.Close()
//
// The leader answers, wherever the pages are served. So that many readers cost it little, answers are
// shared: the same question is asked once in Config.Age, however many readers wait for it, and a
// finished job once in a minute. If the leader does not answer, readers get the last answer, with its
// time and with what is wrong.
package leader
