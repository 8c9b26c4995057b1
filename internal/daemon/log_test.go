package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestFullLogFileIsRotated writes six times the maximum size of a log file, over two starts
// of the daemon.
func TestFullLogFileIsRotated(t *testing.T) {
	var cfg daemon.LogConfig
	file := filepath.Join(t.TempDir(), "m1.log")
	err := cfg.Settings().Load(daemon.Sources{Flags: map[string]string{"log-file": file, "log-max-size": "1m", "log-keep": "2"}})
	must.Do(t, err)
	var stderr bytes.Buffer
	line, last := strings.Repeat("x", 1000), 0
	for range 2 {
		logger, err := cfg.Logger(&stderr)
		must.Do(t, err)
		for range 3 << 10 {
			last++
			logger.Info(line, "n", last)
		}
	}
	files := eventually(t, file, 3)
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() > 1<<20 || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(text), fmt.Sprintf(" n=%d\n", last)) || stderr.Len() > 0 {
		t.Errorf("the last line is missing, %v; on stderr: %q", err, stderr.String())
	}
}

// eventually waits until a log has the wanted number of files. The oldest files are removed in the background.
func eventually(t *testing.T, file string, want int) (files []string) {
	t.Helper()
	err := syncutil.Poll(t.Context(), 10*time.Millisecond, func(context.Context) (done bool, err error) {
		files, err = filepath.Glob(strings.TrimSuffix(file, ".log") + "*")
		return len(files) == want, err
	})
	if err != nil {
		t.Fatalf("files are %q, want %d: %v", files, want, err)
	}
	return files
}

func TestUnwritableLogFileIsRefused(t *testing.T) {
	cfg := daemon.LogConfig{File: filepath.Join(t.TempDir(), "no", "m1.log")}
	if _, err := cfg.Logger(nil); err == nil || !strings.HasPrefix(err.Error(), "--log-file: open /") {
		t.Errorf("got %v", err)
	}
}

func TestLogSettingsAreValidated(t *testing.T) {
	for _, bad := range []map[string]string{{"log-keep": "0"}, {"log-max-size": "much"}, {"log-max-size": "1000k"}} {
		var cfg daemon.LogConfig
		if err := cfg.Settings().Load(daemon.Sources{Flags: bad}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
