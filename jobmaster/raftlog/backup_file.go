package raftlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// A backup is a file of four parts; docs/formats/backup.md describes it.
//
//	hammr-backup 1\n   version of the format
//	{…}\n              BackupInfo, as JSON
//	…                  the snapshot: BackupInfo.Bytes bytes
//	…                  SHA-256 of all bytes before, 32 bytes
const (
	backupHeader    = "hammr-backup "
	backupVersion   = 1
	maxBackupHeader = 1 << 20 // bytes of the first two lines, so that another file is not read whole
)

// BackupInfo describes a backup of the masters.
type BackupInfo struct {
	Cluster string         `json:"cluster"` // id of the cluster
	Index   uint64         `json:"index"`   // of the last entry of the log that the backup includes
	Term    uint64         `json:"term"`    // of that entry
	Time    int64          `json:"time"`    // when it was made, ms since the epoch
	Masters []BackupMaster `json:"masters"` // of the cluster at that time
	Version string         `json:"version"` // of the program that made it, "" if unknown
	Bytes   int64          `json:"bytes"`   // length of the snapshot
}

// BackupMaster is a master of the cluster that was backed up.
type BackupMaster struct {
	ID      string `json:"id"`
	Address string `json:"address"` // host:port
	Voter   bool   `json:"voter"`
}

// writeBackup writes a backup with a snapshot of info.Bytes bytes.
func writeBackup(to io.Writer, info BackupInfo, snapshot io.Reader) error {
	header, err := json.Marshal(info)
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(to, sum)
	if _, err = fmt.Fprintf(out, "%s%d\n%s\n", backupHeader, backupVersion, header); err != nil {
		return err
	}
	if _, err = io.CopyN(out, snapshot, info.Bytes); err != nil {
		return fmt.Errorf("snapshot of %d bytes: %w", info.Bytes, err)
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}

// Backup is an open file with a backup that is complete and undamaged.
type Backup struct {
	BackupInfo
	file     *os.File
	snapshot int64 // offset of the snapshot
}

// OpenBackup opens a backup and checks all of it.
func OpenBackup(name string) (*Backup, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b := &Backup{file: f}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("backup %s: %w", name, errors.Join(err, f.Close()))
	}
	return b, nil
}

// Close closes the file.
func (b *Backup) Close() error { return b.file.Close() }

// State returns the state that was backed up.
func (b *Backup) State() (*cluster.State, error) {
	s, err := cluster.DecodeSnapshot(io.NewSectionReader(b.file, b.snapshot, b.Bytes))
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w; use the version of hammr that made it (%s), or a later one", b.file.Name(), err, b.Version)
	}
	return s, nil
}

// check reads the header, and compares the length and the checksum of the file.
func (b *Backup) check() error {
	all, err := b.file.Stat()
	if err != nil {
		return err
	}
	lines := &countingReader{Reader: bufio.NewReader(io.NewSectionReader(b.file, 0, maxBackupHeader))}
	first, err := lines.line()
	version, marked := strings.CutPrefix(first, backupHeader)
	if n, bad := strconv.Atoi(version); !marked || bad != nil {
		return errors.New("it is not a backup of hammr's masters; give a file that 'hammr master backup' has made")
	} else if n != backupVersion {
		return fmt.Errorf("its format is %d and this version of hammr reads %d; use the version of hammr that made it", n, backupVersion)
	}
	var header string
	if err == nil {
		header, err = lines.line()
	}
	if err != nil {
		return errTruncated(all.Size())
	}
	if err := json.Unmarshal([]byte(header), &b.BackupInfo); err != nil || b.Bytes < 0 {
		return errDamaged
	}
	b.snapshot = lines.bytes
	body := b.snapshot + b.Bytes
	switch {
	case all.Size() < body+sha256.Size:
		return errTruncated(all.Size())
	case all.Size() > body+sha256.Size:
		return errDamaged
	}
	return b.checkSum(body)
}

// checkSum compares the checksum with that of the first body bytes.
func (b *Backup) checkSum(body int64) error {
	sum, want := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(sum, io.NewSectionReader(b.file, 0, body)); err != nil {
		return err
	}
	if _, err := b.file.ReadAt(want, body); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return errDamaged
	}
	return nil
}

// errDamaged is the error of a backup whose bytes have changed.
var errDamaged = errors.New("it is damaged: its checksum is not that of its content; use another copy or another backup")

func errTruncated(bytes int64) error {
	return fmt.Errorf("it is truncated: it ends after %d bytes; use another copy or another backup", bytes)
}

// countingReader reads lines and counts their bytes.
type countingReader struct {
	*bufio.Reader
	bytes int64
}

// line returns the next line without its end.
func (r *countingReader) line() (string, error) {
	text, err := r.ReadString('\n')
	r.bytes += int64(len(text))
	return strings.TrimSuffix(text, "\n"), err
}
