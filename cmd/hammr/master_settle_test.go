package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMasterReadsTimesFromSiteFiles unless they are given others.
func TestMasterReadsTimesFromSiteFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", dir)
	settled := func(cfg masterConfig) [2]time.Duration {
		t.Helper()
		m := &masterDaemon{cfg: cfg, stderr: io.Discard, logger: slog.New(slog.DiscardHandler)}
		if err := m.settleFiles(); err != nil {
			t.Fatal(err)
		}
		return [2]time.Duration{m.cfg.election, m.cfg.expiry}
	}
	if got := settled(masterConfig{}); got != [2]time.Duration{500 * time.Millisecond, 10 * time.Second} {
		t.Errorf("without files: %v", got)
	}
	site := `<configuration>
<property><name>hammr.jobmaster.heartbeat</name><value>2s</value></property>
<property><name>hammr.tasknode.expiry</name><value>1s</value></property>
</configuration>`
	if err := os.WriteFile(filepath.Join(dir, "mapred-site.xml"), []byte(site), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := settled(masterConfig{}); got != [2]time.Duration{2 * time.Second, time.Second} {
		t.Errorf("with files: %v", got)
	}
	if got := settled(masterConfig{election: 3 * time.Second, expiry: 4 * time.Second}); got != [2]time.Duration{3 * time.Second, 4 * time.Second} {
		t.Errorf("with flags: %v", got)
	}
}
