package minihdfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// State is a cluster that outlives the command that started it, as written in StateFile.
//
//	hammr dev hdfs up ── starts ─► supervisor (own session) ── children ─► NameNode, DataNodes
//	      │  waits for hdfs.json ◄──────┘ writes it when all are live
//	hammr dev hdfs down ── SIGTERM ─► supervisor ends its children, removes hdfs.json
type State struct {
	URI        string    `json:"uri"`
	HTTP       string    `json:"http"` // host:port of WebHDFS
	Conf       string    `json:"conf"` // a value for HADOOP_CONF_DIR
	Supervisor Process   `json:"supervisor"`
	NameNode   Process   `json:"nameNode"`
	DataNodes  []Process `json:"dataNodes"`
}

// Process identifies a process, so that a later one with the same id is not mistaken for it.
type Process struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // clock ticks since the machine's start
	Address string `json:"address,omitempty"`
}

// StateFile has the State of a running cluster, in its folder.
const StateFile = "hdfs.json"

// statePath returns the place of a cluster's StateFile.
func statePath(dir string) string { return filepath.Join(dir, StateFile) }

// Up starts a cluster that outlives this process. Its supervisor is started from
// cfg.Supervisor with the folder as its last argument. If the cluster of dir runs already,
// Up returns it.
func Up(ctx context.Context, cfg Config) (*State, error) {
	if len(cfg.Supervisor) == 0 {
		return nil, errors.New("minihdfs: Supervisor is empty")
	}
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("minihdfs: %w", err)
	}
	cfg.Dir = dir
	if err := owndir.Make(dir, 0o755); err != nil {
		return nil, fmt.Errorf("minihdfs: %w", err)
	}
	if state, err := readState(dir); err == nil && state.Supervisor.alive() {
		return state, nil
	}
	if _, err := Jars(ctx); err != nil { // here the user can watch and interrupt the download
		return nil, err
	}
	return startSupervisor(ctx, cfg)
}

// startSupervisor starts the supervisor in a session of its own, so that it outlives this
// process and its terminal. It reads the configuration from config.json.
func startSupervisor(ctx context.Context, cfg Config) (*State, error) {
	os.Remove(statePath(cfg.Dir))
	if err := jsonfile.Write(filepath.Join(cfg.Dir, "config.json"), cfg, 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(cfg.Dir, "supervisor.log"))
	if err != nil {
		return nil, fmt.Errorf("minihdfs: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(cfg.Supervisor[0], append(cfg.Supervisor[1:len(cfg.Supervisor):len(cfg.Supervisor)], cfg.Dir)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("minihdfs: start of the supervisor: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return awaitState(ctx, cfg.Dir, cmd.Process, ended)
}

// awaitState waits until the supervisor has written its state, and ends it if ctx ends
// first. An error of the supervisor quotes the end of its log.
func awaitState(ctx context.Context, dir string, supervisor *os.Process, ended chan error) (*State, error) {
	var state *State
	err := syncutil.Poll(ctx, 100*time.Millisecond, func(context.Context) (found bool, err error) {
		if state, err = readState(dir); err == nil {
			return true, nil
		}
		select {
		case err := <-ended:
			log, _ := os.ReadFile(filepath.Join(dir, "supervisor.log"))
			return false, fmt.Errorf("minihdfs: supervisor ended: %w: %s", errors.Join(err), tail(log))
		default:
			return false, nil
		}
	})
	if err != nil && ctx.Err() != nil {
		supervisor.Signal(syscall.SIGTERM)
		<-ended
	}
	return state, err
}

// Supervise is the whole work of the supervisor: it starts the cluster that Up has described
// in dir, writes its state, and ends it at SIGTERM or SIGINT.
func Supervise(ctx context.Context, dir string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	var cfg Config
	if err := jsonfile.ReadOwn(filepath.Join(dir, "config.json"), &cfg); err != nil {
		return err
	}
	c, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	if err := jsonfile.Write(statePath(dir), c.state(), 0o600); err != nil {
		return errors.Join(err, c.Close())
	}
	<-ctx.Done()
	return errors.Join(os.Remove(statePath(dir)), c.Close())
}

// state returns the content of StateFile, with this process as the supervisor.
func (c *Cluster) state() *State {
	s := &State{URI: c.URI(), HTTP: c.HTTP(), Conf: c.Conf()}
	s.Supervisor = processOf(os.Getpid(), "")
	s.NameNode = processOf(c.nameNode.pid(), c.RPC())
	for i, d := range c.data {
		s.DataNodes = append(s.DataNodes, processOf(d.pid(), c.Host(i)))
	}
	return s
}

// Down ends the cluster of dir: the processes in its state that are still the ones
// recorded. The files stay. If none runs, it does nothing. The supervisor ends its
// children; those that remain after its death by SIGKILL are killed one by one.
func Down(ctx context.Context, dir string) error {
	state, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := state.Supervisor.end(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	for _, p := range append(state.DataNodes, state.NameNode) {
		if err := p.end(ctx, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if err := os.Remove(statePath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("minihdfs: %w", err)
	}
	return nil
}

// endTimeout is how long a process may take to end.
const endTimeout = 20 * time.Second

func (p Process) end(ctx context.Context, sig syscall.Signal) error {
	return procfs.End(ctx, p.PID, p.alive, sig, endTimeout)
}

func (p Process) alive() bool { return p.PID > 0 && procfs.StartTime(p.PID) == p.Started }

// processOf identifies a process that runs now.
func processOf(pid int, address string) Process {
	return Process{PID: pid, Started: procfs.StartTime(pid), Address: address}
}

// readState reads StateFile. The error wraps fs.ErrNotExist if there is none.
func readState(dir string) (*State, error) {
	state := new(State)
	return state, errors.Join(owndir.Check(dir), jsonfile.ReadOwn(statePath(dir), state))
}
