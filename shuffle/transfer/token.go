package transfer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// A task may read the segments, checkpoints and streams of its own job only. So each job has
// a token of its own:
//
//	cluster's token ── ServerKey ──► key ── JobToken ──► token of a job
//	masters, tasknodes               the same            tasks of the job
//
// HMAC does not lead back: tasks know neither the key nor the tokens of other jobs.

// ServerKey derives the key of all Servers of a cluster from the cluster's token.
func ServerKey(clusterToken string) string { return derive(clusterToken, "shuffle") }

// JobToken returns the token that Servers with this key demand for a job.
func JobToken(key, job string) string { return derive(key, job) }

// derive returns the HMAC-SHA-256 of name in hexadecimal digits.
func derive(key, name string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil))
}
