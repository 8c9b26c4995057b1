// Package remote submits jobs to a cluster and watches them there: it is
// client.Client, and client.Admin, over the network.
//
//	c, err := remote.New(remote.Config{Config: rpc.Config{…}, Resolve: files.Resolve})
//	defer c.Close()
//	id, err := c.Submit(ctx, spec, splits)
//	status, err := c.Follow(ctx, id, show)
//
// Before a job is submitted, what is too large for the masters' log is staged in
// files that masters and tasknodes can read, below the directory that
// wire.Info names:
//
//	artifacts/<sha256>                    the program, once for each version of it
//	jobs/<client id>-<sequence>/splits    the splits, removed with the job
//
// Names of files in a job are full, with their scheme, and mean the same on
// every machine: a local file that exists only here is not noticed before a task
// misses it.
//
// Calls find the master that leads and go on over its end, as package rpc says;
// a submission that is sent again is still one job.
package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
)

// Config says which cluster, and what is submitted.
type Config struct {
	rpc.Config
	// Resolve turns the full name of a file into the file system that has it
	// and the path there; default none, when nothing can be submitted.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Program is the file of the program whose jobs are submitted; default that
	// of this process.
	Program string
}

// Client implements client.Client and client.Admin.
type Client struct {
	cfg     Config
	masters *rpc.Masters
	id      string // of this client, in submissions that name none

	mu struct {
		sync.Mutex
		sequence uint64
		jobs     map[submission]*staged
	}
	program struct {
		sync.Mutex          // held while it is staged
		staged     *program // nil until then
	}
}

var (
	_ client.Client = (*Client)(nil)
	_ client.Admin  = (*Client)(nil)
)

// New makes a Client; it connects at the first call.
func New(cfg Config) (*Client, error) {
	cluster, err := rpc.New(cfg.Config)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, masters: cluster, id: rand.Text()}
	c.mu.jobs = make(map[submission]*staged)
	return c, nil
}

// Close closes the connections. No call is under way.
func (c *Client) Close() error { return c.masters.Close() }

// Kill implements client.Client.
func (c *Client) Kill(ctx context.Context, jobID, cause string) error {
	_, err := rpc.Call(ctx, c.masters, (*rpc.Master).Kill, &wire.KillRequest{JobId: jobID, Cause: cause})
	return classify(err, client.ErrUnknownJob)
}

// classify marks the errors that callers tell from others.
func classify(err, unknown error) error {
	var f *rpc.PermanentError
	if !errors.As(err, &f) || f.CallerRefused() {
		return err
	}
	switch f.Code {
	case connect.CodeNotFound:
		return classifiedError{unknown, err}
	case connect.CodeFailedPrecondition:
		return classifiedError{client.ErrRefused, err}
	}
	return err
}

// classifiedError is an error of a class that needs no words beside its own.
type classifiedError struct{ class, error error }

func (c classifiedError) Error() string { return c.error.Error() }

// Unwrap lets errors.Is find both.
func (c classifiedError) Unwrap() []error { return []error{c.class, c.error} }
