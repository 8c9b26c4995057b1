package raftlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// Backup writes a backup of the state to a writer. Only the leader makes one, because a follower
// may be behind. version is the version of the program.
//
// It makes Raft take a snapshot. The jobmaster's loop only copies the state for it, as for every
// other snapshot, and continues while the copy is written. What the backup includes was committed
// before the copy was made.
func (l *Log) Backup(ctx context.Context, to io.Writer, version string) error {
	const what = "backup of the masters"
	err := l.asLeader(ctx, what, func() error {
		err := l.raft.Snapshot().Error()
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			return nil // the latest snapshot has everything
		}
		return err
	})
	if err != nil {
		return err
	}
	snapshots, err := l.snapshots.List()
	if err == nil && len(snapshots) == 0 {
		err = errors.New("the log is empty")
	}
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	meta, data, err := l.snapshots.Open(snapshots[0].ID)
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	defer data.Close() // it was only read
	info := BackupInfo{
		Cluster: l.cfg.ClusterID, Index: meta.Index, Term: meta.Term, Time: time.Now().UnixMilli(), Version: version, Bytes: meta.Size,
	}
	for _, s := range meta.Configuration.Servers {
		info.Masters = append(info.Masters, BackupMaster{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	if err := writeBackup(to, info, data); err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	return nil
}
