package server_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestBackupIsStreamed receives a backup that takes several messages.
func TestBackupIsStreamed(t *testing.T) {
	r := newRig(t, 1)
	var got bytes.Buffer
	if err := r.client().Backup(t.Context(), &got); err != nil || got.Len() != backupBytes {
		t.Fatalf("%d bytes of %d, %v", got.Len(), backupBytes, err)
	}
	for i, b := range got.Bytes() {
		if b != byte(i>>10) {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

// TestBrokenBackupIsAnError receives a part of a backup. The rest does not come from another
// master.
func TestBrokenBackupIsAnError(t *testing.T) {
	r := newRig(t, 1)
	r.backupError = errors.New("the disk is broken")
	var got bytes.Buffer
	err := r.client().Backup(t.Context(), &got)
	if err == nil || !strings.Contains(err.Error(), "backup ended after 3145728 bytes") || !strings.Contains(err.Error(), "the disk is broken; make it again") {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}
