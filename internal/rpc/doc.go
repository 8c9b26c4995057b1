// Package rpc is used by all callers of a cluster's masters. It keeps connections alive,
// sends the token, searches for the leader, and classifies errors.
//
//	c, err := rpc.New(rpc.Config{Masters: []string{"a:7070", "b:7070"}, Token: token})
//	defer c.Close()
//	err = c.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
//		_, err := m.Kill(ctx, request)
//		return err
//	})
//
// Do finds the leader by asking any master, retries while there is no leader, and gives up
// after a timeout. A call may take effect although its answer is lost, so it must be
// idempotent. If repeating the call would give the same error, Do returns a *PermanentError.
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
// users. A client looks for the token first in the file that --token-file names, then in the
// file that HAMMR_TOKEN_FILE names, and last in the user's copies. These are in the
// directory hammr below os.UserConfigDir:
//
//	tokens/<cluster id>    the token of a cluster
//	masters/<host:port>    the id of the cluster that this master belongs to
//
// The command that starts a cluster writes both with TokenStore.Save; the command that
// removes it calls TokenStore.Forget.
//
// Every call also claims the name of a user (Config.User), which masters use for their audit log
// and for rates. Nothing proves it.
package rpc
