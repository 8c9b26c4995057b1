// Package logs holds the logs of attempts and the profiles of processes: files, and the clients that fetch logs and
// profiles from daemons.
package logs
