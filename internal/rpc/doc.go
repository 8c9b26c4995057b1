// Package rpc is what callers of a cluster's masters have in common: how a
// connection is made and kept alive, who is let in, which master leads, and what
// an error means.
//
//	c, err := rpc.New(rpc.Config{Masters: []string{"a:7070", "b:7070"}, Token: token})
//	defer c.Close()
//	err = c.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
//		_, err := m.Kill(ctx, request)
//		return err
//	})
//
// Do finds the master that leads from any of them, tries again while there is
// none, and gives up after a time. What it calls may have happened though the
// answer is lost, so it must be harmless to do twice. An error that comes again
// however often one asks is a *Fault.
//
// # Connections
//
// Calls are HTTP/2, without TLS unless Config.TLS is set, many on one connection
// for each master. Both sides ping a connection that is silent, so that a peer
// that is gone is noticed within 5 s. A peer that does not speak as a jobmaster
// does is told from one that is gone.
//
// # The token
//
// Every call shows the cluster's token, a secret that is shared by the cluster's
// daemons and users. A client finds it, in this order, in the file that it is
// given (--token-file), in the one that HAMMR_TOKEN_FILE names, and in its
// user's own copies, which lie below hammr in the directory for the user's
// configuration (os.UserConfigDir):
//
//	tokens/<cluster id>    the token of a cluster
//	masters/<host:port>    the id of the cluster that this master belongs to
//
// Who starts a cluster writes both with Store.Save; who removes it calls
// Store.Forget.
package rpc
