package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/source/files"
	"github.com/hammr/hammr/internal/source/leader"
	"github.com/hammr/hammr/internal/source/remote"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// defaultUIPort is not a port of a daemon, since a master may run on the same machine.
const defaultUIPort = "7079"

// uiFlags are the flags of `hammr ui`.
type uiFlags struct {
	cluster clusterFlags
	past    pastFlags
	http    string
	hosts   []string
	readers bool
	base    string
	proxies []string
	yarn    string
}

// newUI serves the pages of a cluster from this machine, until Ctrl-C. It exits with 1 if it cannot
// listen. It starts without a leader: the pages then show that there is none.
func newUI() *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use:   "ui [--masters HOST:PORT,... | --history DIR]",
		Short: "Serve the web pages of a cluster from this machine",
		Long: `Serve the web pages and the REST API of a cluster from this machine. Every
master serves them too, on its --http; this command is for machines that reach
the masters when browsers do not. It asks any master, and another one when that
one ends. It needs the RPC addresses of the masters only.

Browsers sign in with the token of the cluster. The pages listen on this machine
only, unless --http says otherwise.

With --history and without --masters, no cluster is needed: the pages show the
finished jobs of a directory of histories, and listen on this machine only. They
need a sign-in there too, since a machine has other users: with the secret in
--token-file or, without that flag, with one that the command prints. --drills
shows the reports of 'hammr chaos run', with a cluster or without one.`,
		Example: `  hammr ui --masters m1,m2,m3
  hammr ui --http 10.0.0.7:8000 --host cluster.example.org
  hammr ui --history backup/history --drills drills`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cluster.masters, "masters", os.Getenv(rpc.MasterVariable), "addresses of masters, as `host:port,...`; one is enough")
	f.cluster.addToken(flags, "")
	flags.StringVar(&f.http, "http", "127.0.0.1:"+defaultUIPort, "`host:port` of the pages")
	flags.StringSliceVar(&f.hosts, "host", nil, "`names` by which browsers reach the pages, besides localhost and IP addresses")
	flags.StringVar(&f.base, "http-base", "/", "`path` below which browsers see the pages, as /hammr/ behind a proxy")
	flags.StringSliceVar(&f.proxies, "http-proxies", nil, "`networks` of proxies whose X-Forwarded-Proto and X-Forwarded-For count, as 10.0.0.0/24")
	flags.BoolVar(&f.readers, "anonymous-readers", false, "let browsers without the token view the pages; logs and changes need it")
	flags.StringVar(&f.yarn, "yarn-scheduler", "", "`shape` of /ws/v1/cluster/scheduler: fair, capacity or fifo (default by the policy)")
	f.past.add(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.past.given() && !cmd.Flags().Changed("masters") {
			f.cluster.masters = "" // that of the environment is for other commands
		}
		if f.cluster.masters == "" && !f.past.given() {
			return errors.New("no cluster is named; give --masters host:port,..., set " + rpc.MasterVariable + ", or give --history DIR or --drills DIR")
		}
		if f.cluster.masters != "" && f.past.history != "" {
			return errors.New("--history cannot be used with --masters: masters show their own histories")
		}
		if f.cluster.masters == "" {
			if err := checkLoopback(f.http); err != nil {
				return err
			}
		}
		if f.yarn != "" && !slices.Contains(hadoop.Schedulers, f.yarn) {
			return fmt.Errorf("--yarn-scheduler %q: expected one of %s", f.yarn, strings.Join(hadoop.Schedulers, ", "))
		}
		return untilSignal(func(ctx context.Context) error { return f.serve(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr()) })
	}
	return cmd
}

// serve serves the pages until ctx ends.
func (f *uiFlags) serve(ctx context.Context, stdout, stderr io.Writer) (err error) {
	var masters []string
	var token, id, printed string
	switch {
	case f.cluster.masters != "":
		masters, token, id, err = f.cluster.cluster()
	case f.cluster.tokenFile != "":
		token, err = rpc.ReadToken(f.cluster.tokenFile)
	default: // other users of this machine reach the pages
		token = rand.Text()
		printed = "sign in with the token " + token + "\n"
	}
	if err != nil {
		return err
	}
	router, err := openFiles(stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, router.Close()) }()
	past, closePast, err := f.past.open(router.Resolve)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closePast()) }()
	source := past
	if masters != nil {
		cfg := rpc.Config{Masters: masters, Token: token, ClusterID: id}
		statuses, err := leader.New(leader.Config{RPC: cfg, Resolve: router.Resolve})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, statuses.Close()) }()
		cluster, err := remote.New(remote.Config{RPC: cfg, Status: statuses})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cluster.Close()) }()
		source = cluster
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	hosts := f.hosts
	if host, _, err := net.SplitHostPort(f.http); err == nil && host != "" {
		hosts = append(hosts, host)
	}
	gate, err := access.New(access.Config{
		Token: token, Cluster: id, AnonymousReaders: f.readers, Hosts: hosts, Base: f.base, Proxies: f.proxies, Refuse: web.Refuse,
		Audit: func(r access.Record) { r.Log(logger) },
	})
	if err != nil {
		return err
	}
	listener, err := daemon.Listen("http", f.http, defaultUIPort, daemon.PageLimits(logger).BehindProxies(f.proxies))
	if err != nil {
		return err
	}
	cfg := web.Config{Source: source, Gate: gate, Name: "hammr ui", Scheduler: f.yarn, Logger: logger}
	if f.past.drills != "" {
		cfg.Drills = files.Drills(f.past.drills)
	}
	pages := web.New(cfg)
	defer pages.Close()
	stop := daemon.ServePage(listener, gate.Handler(pages))
	defer stop()
	fmt.Fprintf(stdout, "http://%s\n%s", listener.Addr(), printed)
	<-ctx.Done()
	return nil
}
