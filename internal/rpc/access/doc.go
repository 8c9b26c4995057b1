// Package access decides who may do what in a browser: through a page, the API, a stream or a log.
//
// # One function
//
// May(caller, verb, object) decides. Each route declares a verb of five, and nothing else in the
// program asks who the caller is. Today there are two kinds of callers: the holder of the cluster's
// token, who may do everything, and readers without it, if Config.AnonymousReaders lets them view. If
// users get identities and jobs get access lists, May changes and its callers do not.
//
// # The gate
//
//	request ─► Host ─► origin ─► size of the body ─► caller ─► requests of the session ─► handler
//	           421     403       413                 401, 429   429                         │
//	                                            Gate.Check, Gate.Do ◄───────────────────────┘
//
// Gate.Handler sets the headers of every answer, makes these checks, and puts the caller into the
// context of the request. It does not check what the caller may do: that is up to the handlers, by
// Check, and by Do for what changes the cluster. The audit log has one line for a change: that of the
// call that makes it, with the name of the caller.
//
// # Signing in
//
// A browser sends the token once, in the body of POST /login (field token; optional: name, the name
// for the audit log, and to, the path to go to). The answer has a cookie. The cookie is valid for 12
// hours and for 30 minutes after its last use; a page that refreshes itself uses it. It carries all that
// a master must know, sealed by a key that is derived from the token: any master of the cluster accepts
// it, and no master stores sessions.
//
// Other clients send the token with each request and get no cookie:
//
//	Authorization: Bearer TOKEN
//	Authorization: Basic base64(NAME:TOKEN)
//
// A source (httpserver.SourceOf) may send five wrong tokens a minute; further ones are refused with
// status 429. The right token is accepted at any time.
//
// If the cluster has no token, every caller counts as its holder, as for calls.
//
// # Limits of this design
//
// Signing out removes the cookie from one browser. A copy of the cookie remains valid until it
// expires, because a list of revoked sessions would be state that all masters must share. A new token
// of the cluster ends all sessions. Without TLS, who can read the traffic can read the token and the
// cookie; see Config.Secure.
//
// # The cookie, byte by byte
//
// The name is hammr-CLUSTER, with the prefix __Host- if Secure. The value is base64 (of URLs, without
// padding) of a nonce of 12 bytes and the output of AES-256-GCM. The key is HKDF-SHA256(token, no salt,
// "web session"). The additional data is the name of the cookie. Version 1 of the plaintext is:
//
//	offset  bytes  is
//	0       1      version, 1
//	1       8      when the user signed in, seconds since 1970, big-endian
//	9       8      when the cookie was last renewed, in the same unit
//	17      8      random id of the session
//	25      ≤ 128  name for the audit log, UTF-8
package access
