package counter

import (
	"archive/zip"
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestEachCounterHasItsHadoopName(t *testing.T) {
	seen := make(map[ID]ID)
	for _, id := range declared {
		group, name := id.HadoopName()
		is := ID{group, name}
		if id.Group != GroupShuffleErrors && (group == id.Group || name == id.Name) {
			t.Errorf("%q has no name in Hadoop", id)
		}
		if other, twice := seen[is]; twice {
			t.Errorf("%q and %q are both %q", id, other, is)
		}
		seen[is] = id
	}
	for id, want := range map[ID]ID{
		FSBytesRead("hdfs"):      {"org.apache.hadoop.mapreduce.FileSystemCounter", "HDFS_BYTES_READ"},
		FSWriteOps(""):           {"org.apache.hadoop.mapreduce.FileSystemCounter", "FILE_WRITE_OPS"},
		{"Words", "long"}:        {"Words", "long"},
		WorkLostMillis:           {"hammr.JobCounter", "WORK_LOST_MILLIS"},
		ShuffleErrorIO:           {"Shuffle Errors", "IO_ERROR"},
		{GroupFileSystem, "odd"}: {"org.apache.hadoop.mapreduce.FileSystemCounter", "odd"},
	} {
		if group, name := id.HadoopName(); (ID{group, name}) != want {
			t.Errorf("%q is %q %q, want %q", id, group, name, want)
		}
	}
}

// TestNamesAreThoseOfHadoopsJar reads the display names in Hadoop's own jar, of one of the versions that
// other tests have fetched.
func TestNamesAreThoseOfHadoopsJar(t *testing.T) {
	file := hadoopJar()
	if file == "" {
		t.Skip("no hadoop-mapreduce-client-core; go run ./internal/ops/minihdfs/cmd/jars fetches it")
	}
	jar, err := zip.OpenReader(file)
	must.Do(t, err)
	defer jar.Close()
	found := 0
	for _, f := range jar.File {
		group := map[string]string{"JobCounter": GroupJob, "TaskCounter": GroupFramework, "FileInputFormatCounter": GroupInputFormat,
			"FileOutputFormatCounter": GroupOutputFormat}[strings.TrimSuffix(filepath.Base(f.Name), ".properties")]
		if group == "" || !strings.HasSuffix(f.Name, ".properties") {
			continue
		}
		text, err := f.Open()
		must.Do(t, err)
		shown := make(map[string]string) // by constant
		for lines := bufio.NewScanner(text); lines.Scan(); {
			constant, name, _ := strings.Cut(strings.TrimLeft(lines.Text(), " "), "=")
			shown[strings.TrimSuffix(strings.TrimSpace(constant), ".name")] = strings.TrimLeft(name, " ")
		}
		text.Close()
		for id, name := range hadoopNames {
			if id.Group != group || id == WorkLostMillis || id == WorkKeptMillis {
				continue
			}
			if found++; strings.TrimSpace(shown[name]) != strings.TrimSpace(id.Name) {
				t.Errorf("%s is %q in Hadoop, %q here", name, shown[name], id.Name)
			}
		}
	}
	if found != len(hadoopNames)-2 {
		t.Errorf("the jar has %d of %d counters", found, len(hadoopNames)-2)
	}
}

// hadoopJar returns a jar of Hadoop with the counters, "" if there is none.
func hadoopJar() string {
	places := []string{os.Getenv("HAMMR_HADOOP_JARS")}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "hammr", "hadoop-*", "yarn"))
	}
	for _, place := range places {
		files, _ := filepath.Glob(filepath.Join(place, "hadoop-mapreduce-client-core-*.jar"))
		if len(files) > 0 {
			return files[len(files)-1]
		}
	}
	return ""
}
