// Package remote is client.Client and client.Admin over the network: it submits jobs to
// a cluster, watches them and controls the cluster.
//
//	c, err := remote.New(remote.Config{Config: rpc.Config{…}, Resolve: resolve})
//	defer c.Close()
//	id, err := c.Submit(ctx, spec, splits)
//	status, err := c.Watch(ctx, id, show)
//
// Programs and splits are too large for the masters' log. So they are staged before a job
// is submitted, in files that masters and tasknodes can read, below the directory that
// wire.Info names:
//
//	artifacts/<sha256>                    the program, once for each version of it
//	jobs/<client id>-<sequence>/splits    the splits, removed with the job
//
// A job names files by their full names, with scheme. A name must refer to the same file
// on every machine. If a local file exists only on the client, the error comes only when a
// task opens the file.
//
// Calls find the leading master, and find the next leader if it is lost; see package rpc.
// A submission that is sent twice is one job.
package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// Config says which cluster to use and which program its jobs run.
type Config struct {
	rpc.Config
	// Resolve maps the full name of a file to its file system and its path there. Default
	// none; a Client without Resolve cannot submit jobs.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Program is the file of the program that the tasks run; default the program of this
	// process.
	Program string
}

// Client implements client.Client and client.Admin.
type Client struct {
	cfg     Config
	masters *rpc.Masters
	id      string // client id of submissions whose spec names no client

	mu struct {
		sync.Mutex
		sequence uint64
		jobs     map[submission]*staged
	}
	program struct {
		sync.Mutex          // held while the program is staged
		staged     *program // nil until the program is staged
	}
}

var (
	_ client.Client = (*Client)(nil)
	_ client.Admin  = (*Client)(nil)
)

// New returns a Client. It connects at the first call.
func New(cfg Config) (*Client, error) {
	cluster, err := rpc.New(cfg.Config)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, masters: cluster, id: rand.Text()}
	c.mu.jobs = make(map[submission]*staged)
	return c, nil
}

// Close closes the connections. No call may be under way.
func (c *Client) Close() error { return c.masters.Close() }

// Kill implements client.Client.
func (c *Client) Kill(ctx context.Context, jobID, cause string) error {
	_, err := rpc.Call(ctx, c.masters, (*rpc.Master).Kill, &wire.KillRequest{JobId: jobID, Cause: cause})
	return classify(err)
}

// classify marks errors with the sentinels of package client.
//
// It does not mark the error of a refused caller, because that error is about the token or
// the version and not about a job.
func classify(err error) error {
	var f *rpc.PermanentError
	if !errors.As(err, &f) || f.CallerRefused() {
		return err
	}
	switch f.Code {
	case connect.CodeNotFound:
		return classifiedError{client.ErrUnknown, err}
	case connect.CodeFailedPrecondition:
		return classifiedError{client.ErrRefused, err}
	}
	return err
}

// classifiedError wraps a sentinel without adding its text.
type classifiedError struct{ class, error error }

func (c classifiedError) Error() string { return c.error.Error() }

// Unwrap returns the sentinel and the error.
func (c classifiedError) Unwrap() []error { return []error{c.class, c.error} }
