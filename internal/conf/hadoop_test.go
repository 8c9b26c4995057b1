package conf

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// hadoopDefaults returns the properties of Hadoop's mapred-default.xml, core-default.xml and
// hdfs-default.xml as name=value. They are in the jars hadoop-mapreduce-client-core, hadoop-common
// and hadoop-hdfs; testdata has those of release 3.4.3.
func hadoopDefaults(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/hadoop-3.4.3-defaults.txt")
	must.Do(t, err)
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(all) < 1300 {
		t.Fatalf("only %d properties", len(all))
	}
	return all
}

// TestHadoopIsClassified checks that each property of Hadoop is read, refused, ignored or harmless,
// and that Hadoop's default is accepted without a word. A variable is accepted as it is.
func TestHadoopIsClassified(t *testing.T) {
	for _, property := range hadoopDefaults(t) {
		name, text, _ := strings.Cut(property, "=")
		canonical, _ := undeprecated(name)
		if table[canonical] == nil && !isHarmless(name) {
			t.Errorf("%s is not classified", name)
			continue
		}
		if k := table[canonical]; k != nil && k.Kind != String && strings.TrimSpace(text) == "" || strings.Contains(text, "${") {
			continue // Load leaves it out, or replaces variables first
		}
		c := New()
		warnings, err := c.set(name, value{text: text}, false)
		if err == nil {
			err = c.Validate()
		}
		if err != nil || len(warnings) > 0 {
			t.Errorf("Hadoop's default %s: %v, warnings %q", property, err, warnings)
		}
	}
}

// TestHarmlessNamesExist finds names in the list of harmless ones that no property of Hadoop has, and
// those that are also declared.
func TestHarmlessNamesExist(t *testing.T) {
	known := hadoopDefaults(t)
	for _, h := range harmlessNames {
		if table[h] != nil {
			t.Errorf("%s is declared and harmless", h)
		}
		if slices.Contains(beyondDefaults, h) {
			continue
		}
		if !slices.ContainsFunc(known, func(p string) bool {
			name, _, _ := strings.Cut(p, "=")
			return name == h || strings.HasSuffix(h, ".") && strings.HasPrefix(name, h)
		}) {
			t.Errorf("%s is no property of Hadoop's defaults", h)
		}
	}
}

// beyondDefaults are properties that only Hadoop's code knows, or that other distributions have.
var beyondDefaults = []string{
	"mapreduce.job.jar", "mapreduce.jobtracker.", "mapreduce.tasktracker.", "mapreduce.admin.", "fs.gs.",
	"mapreduce.input.fileinputformat.split.minsize.per.node", "mapreduce.input.fileinputformat.split.minsize.per.rack",
	"mapreduce.fileoutputcommitter.cleanup.", "mapred.output.committer.class", "dfs.federation.", "dfs.encryption.", "fs.defaultFS.",
	"mapred.fairscheduler.", "mapred.hfsp-scheduler.", "mapred.newjobweightbooster.",
	"mapreduce.terasort.", "mapreduce.randomwriter.", "mapreduce.randomtextwriter.", "mapreduce.sleepjob.",
}

// TestRefusedProperties sets every refused property to a value that is not Hadoop's default, by its
// name and by its old names, and then to the default.
func TestRefusedProperties(t *testing.T) {
	other := map[Kind]string{String: "x", Class: "x", List: "x", Int: "7", Bool: "true"}
	for _, k := range refusedKeys {
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			c := New()
			mustSet(t, c, name+"="+other[k.Kind])
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "not supported: "+k.Unsupported) {
				t.Errorf("%s: %v", name, err)
			}
			mustSet(t, c, name+"="+k.Default)
			if err := c.Validate(); err != nil {
				t.Errorf("default of %s: %v", name, err)
			}
		}
	}
}

// TestIgnoredPropertiesWarn checks that a user who types an ignored property learns it, and that
// sites may set it. Those of the fair scheduler warn in a site's file too.
func TestIgnoredPropertiesWarn(t *testing.T) {
	for _, k := range ignoredKeys {
		inSite := 0
		if strings.HasPrefix(k.Name, fairScheduler) {
			inSite = 1
		}
		for typed, want := range map[bool]int{true: 1, false: inSite} {
			if warnings, err := New().set(k.Name, value{text: "x"}, typed); err != nil || len(warnings) != want {
				t.Errorf("%s, typed %v: %v, warnings %q", k.Name, typed, err, warnings)
			}
		}
	}
}

// TestUnknownNamesOfHadoopWarn names the nearest property, and the file.
func TestUnknownNamesOfHadoopWarn(t *testing.T) {
	dir := write(t, map[string]string{"mapred-site.xml": `<configuration>
<property><name>mapreduce.job.reducers</name><value>2</value></property>
<property><name>hadoop.security.authentcation</name><value>x</value></property>
<property><name>io.own.thing.of.a.user</name><value>x</value></property>
<property><name>yarn.anything</name><value>x</value></property>
<property><name>own.name</name><value>x</value></property>
</configuration>`})
	_, warnings, err := Load(Sources{Dir: dir, Define: []string{"dfs.replicatoin=2", "mapreduce.map.output.compres=true"}, Env: func(string) string { return "" }})
	want := []string{
		"mapred-site.xml:3: hadoop.security.authentcation is not a property that is read here; did you mean hadoop.security.authentication?",
		"dfs.replicatoin is not a property that is read here; did you mean dfs.replication?",
		"mapred-site.xml:4: io.own.thing.of.a.user is not a property that is read here",
		"mapred-site.xml:2: mapreduce.job.reducers is not a property that is read here; did you mean mapreduce.job.reduces?",
		"mapreduce.map.output.compres is not a property that is read here; did you mean mapreduce.map.output.compress?",
	}
	slices.Sort(want)
	slices.Sort(warnings)
	if err != nil || !slices.Equal(warnings, want) {
		t.Errorf("%v\n%s", err, strings.Join(warnings, "\n"))
	}
}

// TestFairSchedulerOfSite reads a JobTracker's file. Hadoop's defaults give no warning.
func TestFairSchedulerOfSite(t *testing.T) {
	dir := write(t, map[string]string{"mapred-site.xml": `<configuration>
<property><name>mapred.fairscheduler.eventlog.enabled</name><value>true</value></property>
<property><name>mapred.fairscheduler.loadmanager</name><value>org.apache.hadoop.mapred.CapBasedLoadManager</value></property>
<property><name>mapred.fairscheduler.weightadjuster</name><value>org.apache.hadoop.mapred.NewJobWeightBooster</value></property>
<property><name>mapred.fairscheduler.sizebasedweight</name><value>true</value></property>
</configuration>`})
	_, warnings, err := Load(Sources{Dir: dir, Env: func(string) string { return "" }})
	want := []string{
		"mapred-site.xml:2: mapred.fairscheduler.eventlog.enabled=true is ignored: masters write scheduling decisions to their --decisions-file",
		"mapred-site.xml:4: mapred.fairscheduler.weightadjuster=org.apache.hadoop.mapred.NewJobWeightBooster is ignored: NewJobWeightBooster is the setting mapred.fairscheduler.newjobboost=true of policy fair; other classes have no counterpart",
	}
	if err != nil || !slices.Equal(warnings, want) {
		t.Errorf("%v\n%s", err, strings.Join(warnings, "\n"))
	}
}

// TestUnsetMemory takes Hadoop's default of -1 for the default.
func TestUnsetMemory(t *testing.T) {
	c := New()
	mustSet(t, c, "mapreduce.map.memory.mb=300", "mapreduce.map.memory.mb=-1")
	if err := c.Validate(); err != nil || c.IsSet(MapMemoryMB) || c.Int(MapMemoryMB) != 1024 {
		t.Errorf("%v, %d MiB", err, c.Int(MapMemoryMB))
	}
}
