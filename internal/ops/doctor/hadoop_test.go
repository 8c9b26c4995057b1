package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/conf"
)

// site reads a directory of Hadoop's files with a core-site.xml of these properties.
func site(t *testing.T, properties map[string]string) *Target {
	t.Helper()
	text := "<configuration>"
	for name, value := range properties {
		text += "<property><name>" + name + "</name><value>" + value + "</value></property>"
	}
	return siteFile(t, text+"</configuration>")
}

func siteFile(t *testing.T, text string) *Target {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "core-site.xml"), text)
	target := newTarget(t)
	target.Conf, target.ConfWarnings, target.ConfErr = conf.Load(conf.Sources{Dir: dir})
	return target
}

// TestHadoop has NameNodes that refuse connections, malformed files and a directory that is missing.
func TestHadoop(t *testing.T) {
	expect(t, run(t, site(t, nil), "hadoop"), want{OK, "no HDFS"})
	expect(t, run(t, siteFile(t, "<configuration><property>"), "hadoop"), want{Fault, "core-site.xml"})
	up, down := listen(t).Addr().String(), refusing(t)
	expect(t, run(t, site(t, map[string]string{"fs.defaultFS": "hdfs://" + up}), "hadoop"), want{OK, up})
	expect(t, run(t, site(t, map[string]string{"fs.defaultFS": "hdfs://" + down}), "hadoop"), want{Fault, "refused"})
	available := map[string]string{
		"fs.defaultFS": "hdfs://site", "dfs.nameservices": "site", "dfs.ha.namenodes.site": "a,b",
		"dfs.namenode.rpc-address.site.a": down, "dfs.namenode.rpc-address.site.b": up,
	}
	expect(t, run(t, site(t, available), "hadoop"), want{Warn, "refused"}, want{OK, up})
	delete(available, "dfs.namenode.rpc-address.site.a")
	expect(t, run(t, site(t, available), "hadoop"), want{Fault, "dfs.namenode.rpc-address.site.a"})

	target := newTarget(t)
	target.Conf, target.ConfWarnings, target.ConfErr = conf.Load(conf.Sources{Dir: "/no/such"})
	expect(t, run(t, target, "hadoop"), want{Warn, "/no/such"})

	// The staging directory may be on another HDFS than the default.
	target = site(t, nil)
	target.Daemons = []Daemon{{Kind: Jobmaster, Name: "m1", Staging: "hdfs://" + down + "/staging"}}
	expect(t, run(t, target, "hadoop"), want{Fault, down})
}

func TestStaging(t *testing.T) {
	base := t.TempDir()
	target := newTarget(t)
	expect(t, run(t, target, "staging"), want{Skipped, "--cluster"})
	target.Daemons = []Daemon{
		{Kind: Jobmaster, Name: "m1", Staging: "file://" + base}, {Kind: Jobmaster, Name: "m2", Staging: "file://" + base + "/none"},
		{Kind: Jobmaster, Name: "m3", Staging: "file://" + write(t, filepath.Join(t.TempDir(), "f"), "")},
		{Kind: Jobmaster, Name: "m4", Staging: "s3://bucket/staging"},
	}
	expect(t, run(t, target, "staging"), want{OK, "writable"}, want{Warn, "does not exist"}, want{Fault, "not a directory"}, want{Fault, `scheme "s3"`})
	if entries, err := os.ReadDir(base); err != nil || len(entries) > 0 {
		t.Errorf("the check left %v, %v", entries, err)
	}
	target.Resolve = nil
	expect(t, run(t, target, "staging")[:1], want{Fault, "no file system"})
}
