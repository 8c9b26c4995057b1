package masterd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// SaveBackup writes a backup to a file. The file appears under its name when it is complete,
// undamaged and on the disk. Only its owner can read it, since it has the configurations of jobs.
func SaveBackup(name string, write func(io.Writer) error) (info raftlog.BackupInfo, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // with mode 0600
	if err != nil {
		return info, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		info, err = checkBackup(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return info, errors.Join(err, os.Remove(f.Name()))
	}
	return info, raftlog.SyncDir(filepath.Dir(name))
}

// checkBackup reads all of a backup.
func checkBackup(name string) (raftlog.BackupInfo, error) {
	b, err := raftlog.OpenBackup(name)
	if err != nil {
		return raftlog.BackupInfo{}, err
	}
	return b.BackupInfo, b.Close()
}

// RestoreConfig says how a master is made from a backup. Errors name its fields by the flags of
// `hammr master restore`.
type RestoreConfig struct {
	// Backup is the file. Required.
	Backup string
	// Dir is the directory of the new master, missing or empty. Required.
	Dir string
	// ID is the name of the new master. Required.
	ID string
	// Address is the host:port at which others will reach the master. Default the address of ID
	// in the backup.
	Address string
	// ClusterID is the id of the cluster that the backup must be of. Default any.
	ClusterID string
	// TokenFile has the cluster's secret, for questions to its masters. Required.
	TokenFile string
}

// Restored describes a master that was made from a backup.
type Restored struct {
	Backup  raftlog.BackupInfo
	Address string // host:port
}

// Restore makes the directory of a master from a backup.
//
//	token, backup ─► same cluster ─► no master answers ─► directory is new ─► raft, then cluster file
//
// If it fails, it removes what it has made.
func Restore(ctx context.Context, cfg RestoreConfig) (done Restored, err error) {
	token, err := rpc.ReadToken(cfg.TokenFile)
	if err != nil {
		return done, err
	}
	b, err := raftlog.OpenBackup(cfg.Backup)
	if err != nil {
		return done, err
	}
	defer b.Close() // it was only read
	done = Restored{Backup: b.BackupInfo, Address: cfg.addressIn(b.BackupInfo)}
	if done.Address == "" {
		return done, fmt.Errorf("backup %s has no master %s; give its --address", cfg.Backup, cfg.ID)
	}
	if err := raftlog.CheckReachable(done.Address); err != nil {
		return done, fmt.Errorf("--address: %w", err)
	}
	if err := cfg.checkCluster(b.BackupInfo); err != nil {
		return done, err
	}
	masters := []raftlog.Peer{{ID: cfg.ID, Address: done.Address}}
	for _, m := range b.Masters {
		masters = append(masters, raftlog.Peer{ID: m.ID, Address: m.Address})
	}
	if alive := answering(ctx, masters, b.Cluster, token); len(alive) > 0 {
		return done, fmt.Errorf("cluster %s lives: master %s at %s answers; stop all of its masters before you restore it", b.Cluster, alive[0].ID, alive[0].Address)
	}
	if err := cfg.checkEmpty(); err != nil {
		return done, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return done, err
	}
	dir := filepath.Join(cfg.Dir, raftDir)
	if err = raftlog.Restore(b, dir, raftlog.Peer{ID: cfg.ID, Address: done.Address}); err == nil {
		err = writeClusterFile(cfg.Dir, b.Cluster)
	}
	if err != nil {
		return done, errors.Join(err, os.RemoveAll(dir))
	}
	return done, raftlog.SyncDir(cfg.Dir)
}

// addressIn returns the address of the new master, "" if it is unknown.
func (cfg *RestoreConfig) addressIn(b raftlog.BackupInfo) string {
	if cfg.Address != "" {
		return daemon.WithDefaultPort(cfg.Address, defaultPort)
	}
	for _, m := range b.Masters {
		if m.ID == cfg.ID {
			return m.Address
		}
	}
	return ""
}

// checkCluster refuses a backup of another cluster.
func (cfg *RestoreConfig) checkCluster(b raftlog.BackupInfo) error {
	if cfg.ClusterID != "" && cfg.ClusterID != b.Cluster {
		return fmt.Errorf("backup %s is of cluster %s, not of %s; give a backup of that cluster", cfg.Backup, b.Cluster, cfg.ClusterID)
	}
	id, err := readClusterFile(cfg.Dir)
	if err == nil && id != "" && id != b.Cluster {
		err = fmt.Errorf("directory %s is one of cluster %s, and backup %s is of %s; give another --dir", cfg.Dir, id, cfg.Backup, b.Cluster)
	}
	return err
}

// checkEmpty refuses a directory with anything in it.
func (cfg *RestoreConfig) checkEmpty() error {
	entries, err := os.ReadDir(cfg.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err == nil && len(entries) > 0:
		return fmt.Errorf("directory %s is not empty, it has %s; give another --dir, or move this one away", cfg.Dir, entries[0].Name())
	}
	return err
}
