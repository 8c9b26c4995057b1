// Package httpserver makes the HTTP servers of all processes, so that no server lacks a bound, and
// passes on what their handlers learn about connections.
//
//	server := httpserver.New(handler, logger)
//	server.Serve(listener)
//
// A connection on which no peer has shown a secret has few rights: the listener closes it after some
// time, and before others when there are too many; see Conn. A handler that has checked a secret calls
// Identify. net/http has no timeout for that: it waits without limit for the body of a request that the
// handler has refused.
package httpserver
