package masterd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/testing/must"
)

// siteConf is the configuration that a jobmaster loads with HADOOP_CONF_DIR=dir.
func siteConf(t *testing.T) *conf.Conf {
	t.Helper()
	c, _, err := conf.Load(conf.Sources{})
	must.Do(t, err)
	return c
}

func TestMasterReadsTimesFromSiteFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", dir)
	resolved := func(cfg Config) [2]time.Duration {
		t.Helper()
		cfg.EnsureDefaults()
		cfg.Conf = siteConf(t)
		d := &Daemon{cfg: cfg}
		must.Do(t, d.resolveFiles())
		return [2]time.Duration{d.cfg.ElectionTimeout, d.cfg.TasknodeExpiry}
	}
	if got := resolved(Config{}); got != [2]time.Duration{500 * time.Millisecond, 10 * time.Second} {
		t.Errorf("without files: %v", got)
	}
	site := `<configuration>
<property><name>` + conf.MasterElectionTimeout + `</name><value>2s</value></property>
<property><name>hammr.tasknode.expiry</name><value>1s</value></property>
</configuration>`
	must.Do(t, os.WriteFile(filepath.Join(dir, "mapred-site.xml"), []byte(site), 0o644))
	if got := resolved(Config{}); got != [2]time.Duration{2 * time.Second, time.Second} {
		t.Errorf("with files: %v", got)
	}
	if got := resolved(Config{ElectionTimeout: 3 * time.Second, TasknodeExpiry: 4 * time.Second}); got != [2]time.Duration{3 * time.Second, 4 * time.Second} {
		t.Errorf("with flags: %v", got)
	}
}

func TestOpenReportsEveryError(t *testing.T) {
	var cfg Config
	cfg.EnsureDefaults()
	cfg.Masters, cfg.ClusterID = []string{"m1=a", "m2"}, "x"
	_, err := Open(cfg)
	for _, want := range []string{"--id is missing", "--dir is missing", "--token-file is missing", `--masters: "m2": expected id=host:port`, `--cluster-id: "x": expected a number`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
