// Package rpc has what the callers of a cluster's masters share: connections that are kept
// alive, the token, the search for the leader, and the meaning of errors.
//
//	c, err := rpc.New(rpc.Config{Masters: []string{"a:7070", "b:7070"}, Token: token})
//	defer c.Close()
//	err = c.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
//		_, err := m.Kill(ctx, request)
//		return err
//	})
//
// Do finds the leader from any master, retries while there is none, and gives up after a
// timeout. A call may have been carried out although its answer was lost, so it must be
// idempotent. An error that repeats however often the call is made is a *PermanentError.
//
// # Connections
//
// Calls use HTTP/2, without TLS unless Config.TLS is set, and share one connection to
// each master. Both sides ping a silent connection, so that a lost peer is noticed
// within 5 s. A peer that speaks another protocol is distinguished from one that does
// not answer.
//
// # The token
//
// Every call carries the cluster's token, a secret shared by the cluster's daemons and
// users. A client looks for it, in this order, in the file that --token-file names, in
// the file that HAMMR_TOKEN_FILE names, and in its user's own copies, below hammr in the
// directory for the user's configuration (os.UserConfigDir):
//
//	tokens/<cluster id>    the token of a cluster
//	masters/<host:port>    the id of the cluster that this master belongs to
//
// The command that starts a cluster writes both with TokenStore.Save; the command that
// removes it calls TokenStore.Forget.
package rpc
