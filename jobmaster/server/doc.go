// Package server is where a jobmaster meets the network: it serves the calls of
// package wireconnect and passes them to a jobmaster.Master.
//
//	server := rpc.NewServer(server.New(edge.Config{Master: master, …}), logger)
//	err := server.Serve(listener)
//
// A caller is let in when it speaks the same version of the messages, wants this
// cluster or none in particular, and shows the cluster's token. A master that
// does not lead answers with the address of the one that does.
//
// Goroutines: the server has one for each call. A tasknode that is attached has
// a second one, which reads its reports while the first sends orders; both end
// with the attachment. Orders wait in a mailbox, so that the master's loop never
// waits for a tasknode; one that takes none for sendTimeout is cut off. The end
// of Master.Run ends every call.
package server
