// Package server is a jobmaster's RPC server: it passes calls of package wireconnect to
// a jobmaster.Master.
//
//	s := rpc.NewServer(server.New(server.Config{Master: master, …}), logger)
//	err := s.Serve(listener)
//
// A caller is accepted if it speaks the same version of the messages, names this cluster
// or none, and sends the cluster's token. A master that does not lead answers with the
// address of the leader.
//
// A call that changes the cluster is a line in the audit log. The calls of each user are bounded
// by Config.Rates. callTable says which calls these are.
//
// Goroutines: the server has one for each call. An attached tasknode has a second one,
// which reads its reports while the first sends orders; both end with the attachment.
// Orders wait in a mailbox, so that the master's loop never waits for a tasknode. A
// tasknode that does not take orders for sendTimeout is detached. When Master.Run
// returns, every call ends.
package server
