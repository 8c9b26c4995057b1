package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// write creates files in a new directory and returns the directory.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return dir
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if text, ok := strings.CutPrefix(p, name+"="); ok {
				return text
			}
		}
		return ""
	}
}

func xmlOf(properties ...string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, p := range properties {
		name, text, _ := strings.Cut(p, "=")
		b.WriteString("<property><name>" + name + "</name><value>" + text + "</value></property>\n")
	}
	return b.String() + "</configuration>\n"
}

func mustLoad(t testing.TB, s Sources) (*Conf, []string) {
	t.Helper()
	c, warnings, err := Load(s)
	must.Do(t, err)
	return c, warnings
}

func want(t testing.TB, c *Conf, properties ...string) {
	t.Helper()
	for _, p := range properties {
		name, text, _ := strings.Cut(p, "=")
		if got := c.String(name); got != text {
			t.Errorf("%s is %q, want %q", name, got, text)
		}
	}
}

func TestLoadOrder(t *testing.T) {
	dir := write(t, map[string]string{
		"etc/hadoop/core-site.xml":   xmlOf("fs.defaultFS=hdfs://ns", "a=core", "b=core", "c=core", "d=core"),
		"etc/hadoop/hdfs-site.xml":   xmlOf("b=hdfs", "dfs.replication=2"),
		"etc/hadoop/mapred-site.xml": xmlOf("c=mapred", "io.sort.mb=10", "mapreduce.job.reduce=odd"),
		"etc/hadoop/yarn-site.xml":   "not read",
		"mine.xml":                   xmlOf("d=mine", "mapreduce.job.reduces=3"),
	})
	c, warnings := mustLoad(t, Sources{Env: environment("HADOOP_HOME=" + dir), Files: []string{filepath.Join(dir, "mine.xml")},
		Define: []string{"mapreduce.task.io.sort.mb=20", "e=x=y"}})
	want(t, c, "fs.defaultFS=hdfs://ns", "a=core", "b=hdfs", "c=mapred", "d=mine", "e=x=y", "dfs.replication=2",
		"mapreduce.task.io.sort.mb=20", "mapreduce.job.reduces=3")
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "mapred-site.xml:") || !strings.Contains(warnings[0], "mapreduce.job.reduce is not") {
		t.Errorf("warnings: %q", warnings)
	}
	other := write(t, map[string]string{"core-site.xml": xmlOf("a=other")})
	c, _ = mustLoad(t, Sources{Env: environment("HADOOP_HOME="+dir, "HADOOP_CONF_DIR="+other)})
	want(t, c, "a=other", "b=")
	c, _ = mustLoad(t, Sources{Dir: filepath.Join(dir, "etc/hadoop"), Env: environment("HADOOP_CONF_DIR=" + other)})
	want(t, c, "a=core")
	_, warnings = mustLoad(t, Sources{Env: environment("HADOOP_CONF_DIR=" + dir + "/none")})
	if len(warnings) != 1 || !strings.Contains(warnings[0], dir+"/none") {
		t.Errorf("missing directory: %q", warnings)
	}
}

func TestFinal(t *testing.T) {
	final := `<configuration><property name="a" value="1" final="true"/><property name="a" value="2"/>
		<property><name>mapred.reduce.tasks</name><value>1</value><final>true</final></property></configuration>`
	dir := write(t, map[string]string{"core-site.xml": final, "mine.xml": xmlOf("mapreduce.job.reduces=5", "a=3")})
	mine := []string{filepath.Join(dir, "mine.xml")}
	c, warnings := mustLoad(t, Sources{Dir: dir, Files: mine})
	want(t, c, "a=1", "mapreduce.job.reduces=1")
	if len(warnings) != 3 || !strings.Contains(warnings[1], "mine.xml:3: an attempt to override final parameter: mapreduce.job.reduces; Ignoring.") {
		t.Errorf("warnings: %q", warnings)
	}
	c, _ = mustLoad(t, Sources{Dir: dir, Files: mine, Define: []string{"a=4"}})
	want(t, c, "a=4")
}

func TestInclude(t *testing.T) {
	dir := write(t, map[string]string{
		"core-site.xml": `<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
			<property><name>a</name><value>before</value></property>
			<xi:include href="more/inner.xml"/>
			<xi:include href="none.xml"><xi:fallback><property><name>f</name><value>fallback</value></property></xi:fallback></xi:include>
			<xi:include href="more/inner.xml"><xi:fallback><property><name>g</name><value>not used</value></property></xi:fallback></xi:include>
			<property><name>b</name><value>after</value></property></configuration>`,
		"more/inner.xml": `<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="deeper.xml"/>
			<configuration><property><name>a</name><value>inner</value></property></configuration>
			<property><name>b</name><value>inner</value></property></configuration>`,
		"more/deeper.xml": xmlOf("c=deeper"),
	})
	c, _ := mustLoad(t, Sources{Dir: dir})
	want(t, c, "a=inner", "b=after", "c=deeper", "f=fallback", "g=")
}

func TestVariables(t *testing.T) {
	env := environment("HOME=/home/ann", "HADOOP_USER_NAME=ann", "USER=eve", "PORT=99")
	c, _ := mustLoad(t, Sources{Env: env, Define: []string{
		"base=/data/${user.name}", "my.dir=${base}/x", "both=${my.dir},${base}", "env=${env.PORT}${env.NONE}", "def=${env.NONE-1}${env.NONE:-2}${env.PORT-3}",
		"unknown=${nothing}", "open=${base", "empty=${}", "mapreduce.job.reduces=${env.PORT}", "io.sort.mb=${mapreduce.job.reduces}",
		"default=${mapreduce.task.io.sort.factor}", "old=${io.sort.mb}", "home=${user.home}", "price=$5 {x}",
	}})
	want(t, c, "base=/data/ann", "my.dir=/data/ann/x", "both=/data/ann/x,/data/ann", "env=99", "def=1299", "unknown=${nothing}", "open=${base",
		"empty=${}", "mapreduce.job.reduces=99", "mapreduce.task.io.sort.mb=99", "default=128", "old=99", "home=/home/ann", "price=$5 {x}")
}

func TestVariablesThatGrow(t *testing.T) {
	var define []string
	for i := range 26 {
		name, next := string(rune('a'+i)), string(rune('a'+i+1))
		define = append(define, name+"=${"+next+"}${"+next+"}")
	}
	for _, last := range []string{"{=", "{=" + strings.Repeat("x", 1000)} {
		_, _, err := Load(Sources{Env: environment(), Define: append(define, last)})
		if err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("no bound: %v", err)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		xmlOf("a=1", "io.sort.mb=x"):                               "core-site.xml:4: io.sort.mb=x: expected a whole number, and x is not",
		xmlOf("hammr.none=1"):                                      "core-site.xml:3: hammr.none=1: unknown property",
		xmlOf("a=${b}", "b=${a}"):                                  "refers to itself",
		"<configuration>\n<property><name>a</name>":                "core-site.xml:2: XML syntax error",
		"<configuration>\n\n<property><value>a</value></property>": "core-site.xml:3: <property> without a <name>",
		"<configuration>\n<propertie/></configuration>":            "core-site.xml:2: element <propertie> where <property> belongs",
		"<config/>": "element <config> where <configuration> belongs",
		"":          "no <configuration> in the file",
		`<configuration><include href="core-site.xml"/></configuration>`: "include each other more than 20 deep",
		`<configuration><include href="http://h/x"/></configuration>`:    "only files can be included",
		`<configuration><include/></configuration>`:                      "include without href",
		`<configuration><include href="n.xml"/></configuration>`:         "n.xml: no such file",
		"<configuration>" + strings.Repeat("<configuration>", 50):        "nested more than 20 deep",
	} {
		dir := write(t, map[string]string{"core-site.xml": text})
		if _, _, err := Load(Sources{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
	_, _, err := Load(Sources{Env: environment(), Files: []string{"/none.xml"}, Define: []string{"novalue", "mapreduce.job.reduces=x", "=1"}})
	for _, want := range []string{"-conf: open /none.xml", "-D novalue: expected name=value", "-D: mapreduce.job.reduces=x", "without a name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %v", want, err)
		}
	}
}

func TestEmptyValues(t *testing.T) {
	dir := write(t, map[string]string{"core-site.xml": xmlOf("io.sort.mb=", "mapreduce.output.textoutputformat.separator=") +
		"<configuration><property><name>a</name></property></configuration>"})
	c, _ := mustLoad(t, Sources{Dir: dir})
	if c.Int("mapreduce.task.io.sort.mb") != 100 || c.String("mapreduce.output.textoutputformat.separator") != "" || c.IsSet("a") {
		t.Errorf("got %v", c.Map())
	}
}

func TestFileTooLong(t *testing.T) {
	long := "<configuration>" + strings.Repeat(" ", maxFileBytes)
	if _, err := readXML(strings.NewReader(long), "x.xml", nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

func FuzzXML(f *testing.F) {
	for _, s := range []string{xmlOf("a=b"), `<configuration><property name="a" value="${b}" final="true"/><include href="x"><fallback/></include>`,
		"<configuration><configuration/><property><name>x</name><value><![CDATA[<]]></value></property></configuration>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, err := readXML(strings.NewReader(string(data)), "f.xml", func(string) ([]setting, error) { return nil, os.ErrNotExist })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.xml:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		l := loader{gathered: map[string]gathered{}}
		l.add(settings, true)
		for _, s := range settings {
			if s.name == "" || !strings.HasPrefix(s.origin, "f.xml:") {
				t.Errorf("setting %+v", s)
			}
		}
		if _, _, err := l.finish(func(string) string { return "" }); err != nil && err.Error() == "" {
			t.Error("empty error")
		}
	})
}

// TestEncodings reads files in the encodings that editors write, or names the encoding.
func TestEncodings(t *testing.T) {
	for name, c := range map[string]struct{ text, value, fault string }{
		"UTF-8":           {xmlOf("a=é"), "é", ""},
		"byte order mark": {"\ufeff" + xmlOf("a=é"), "é", ""},
		"declared UTF-8":  {`<?xml version="1.0" encoding="UTF-8"?>` + xmlOf("a=é"), "é", ""},
		"Latin 1":         {`<?xml version="1.0" encoding="ISO-8859-1"?>` + xmlOf("a=\xe9"), "é", ""},
		"ASCII":           {`<?xml version="1.0" encoding="US-ASCII"?>` + xmlOf("a=e"), "e", ""},
		"another":         {`<?xml version="1.0" encoding="windows-1252"?>` + xmlOf("a=e"), "", "encoding windows-1252 is not read; save the file as UTF-8"},
		"UTF-16":          {"\xff\xfe<\x00", "", "core-site.xml: the file is in UTF-16; save it as UTF-8"},
		"UTF-16 BE":       {"\xfe\xff\x00<", "", "the file is in UTF-16"},
	} {
		dir := write(t, map[string]string{"core-site.xml": c.text})
		conf, _, err := Load(Sources{Dir: dir, Env: environment()})
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || conf.String("a") != c.value {
			t.Errorf("%s: %q, %v", name, conf.String("a"), err)
		}
	}
}
