package sshcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestYarnRoles checks which machines have which daemons of Hadoop, and that a cluster keeps them.
func TestYarnRoles(t *testing.T) {
	for text, want := range map[string]string{
		"* hdfs=true\na\nb": "a=namenode,datanode b=datanode",
		"* hdfs=true yarn=true masters=1\na roles=jobmaster\nb\nc":                          "a=namenode,resourcemanager b=datanode,nodemanager c=datanode,nodemanager",
		"* hdfs=true yarn=true\na roles=jobmaster,tasknode\nb roles=resourcemanager\n":      "a=namenode,datanode,nodemanager b=resourcemanager",
		"a roles=jobmaster,tasknode,namenode,datanode,resourcemanager\nb roles=nodemanager": "a=namenode,datanode,resourcemanager b=nodemanager",
	} {
		p := parsePlan(t, text)
		var words []string
		for i := range p.Hosts {
			h := &p.Hosts[i]
			words = append(words, h.Name+"="+strings.Join(h.among(hadoopRoles), ","))
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if again := parsePlan(t, p.Hostfile()); !reflect.DeepEqual(p, again) {
			t.Errorf("from\n%s\ncomes %+v, want %+v", p.Hostfile(), again, p)
		}
	}
	old := parsePlan(t, "* cluster-id=7 hdfs=true yarn=true hadoop.x=1\na\nb")
	member := &survey{state: "cluster", clusterID: "7", dir: "/d", etc: "/d", cpus: 3, memory: 4000, hostfile: old.Hostfile()}
	p := parsePlan(t, "b\nc\na yarn-memory=1800")
	_, err := p.adopt([]*survey{member, {state: "absent", dir: "/c", cpus: 2, memory: 1000}, member})
	must.Do(t, err)
	if b, c, a := p.Hosts[0], p.Hosts[1], p.Hosts[2]; !a.has("resourcemanager") || !c.has("nodemanager") || c.has("resourcemanager") || b.YarnMemory != 3000 || c.YarnMemory != 750 || a.YarnMemory != 1800 {
		t.Errorf("%+v", p)
	}
	if got := p.taskMemory(); got != 750/5 {
		t.Errorf("tasks have %d MiB", got)
	}
	old = parsePlan(t, "* cluster-id=7 hdfs=true\na")
	member.hostfile = old.Hostfile()
	if _, err := parsePlan(t, "* hdfs=true yarn=true\na").adopt([]*survey{member}); err == nil || !strings.Contains(err.Error(), "started without yarn=true") {
		t.Errorf("a cluster without YARN: %v", err)
	}
}

func TestInvalidYarns(t *testing.T) {
	for text, want := range map[string]string{
		"* yarn=true\na": "YARN needs an HDFS of the cluster's own; give --with-hdfs, or write hdfs=true",
		"* hdfs=true\na roles=jobmaster,tasknode,resourcemanager\nb roles=resourcemanager": "2 machines have the role resourcemanager",
		"* hdfs=true\na roles=jobmaster,tasknode,resourcemanager":                          "no machine has the role nodemanager",
		"* hdfs=true\na roles=jobmaster,tasknode,nodemanager":                              "none has the role resourcemanager",
		"* hdfs=true yarn=true slots=4\na yarn-memory=8000\nb yarn-memory=1000":            "a task of YARN would have 111 MiB of memory and needs 128",
	} {
		if err := parsePlan(t, text).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestYarnProperties checks the properties of the daemons and clients of two clusters at one address:
// no port is shared, tasks have the memory of the smallest machine, and the hostfile overrides all.
func TestYarnProperties(t *testing.T) {
	const cluster = "* hdfs=true yarn=true slots=2 yarn-memory=10000 hadoop.dfs.replication=7 address=10.0.0.1 dir=/d/{host}\na port=%d\nb port=%d slots=4 yarn-memory=9000\n"
	ports := make(map[string]string)
	for _, base := range []int{7070, 9000} {
		p := parsePlan(t, fmt.Sprintf(cluster, base, base+100))
		client := p.clientProperties()
		for i := range p.Hosts {
			h := &p.Hosts[i]
			properties := p.hostProperties(h)
			for name, want := range map[string]string{
				"yarn.resourcemanager.address": fmt.Sprint("10.0.0.1:", base+26), "yarn.nodemanager.local-dirs": "/d/" + h.Name + "/hadoop/nodemanager/local",
				"yarn.nodemanager.resource.memory-mb": fmt.Sprint(h.YarnMemory), "mapreduce.map.memory.mb": "1000", "mapreduce.map.java.opts": "-Xmx750m -XX:-UsePerfData ",
				"mapreduce.task.io.sort.mb": "250", "dfs.replication": "7", "yarn.application.classpath": "$HADOOP_CONF_DIR,$HADOOP_YARN_HOME/*",
			} {
				if properties[name] != want {
					t.Errorf("%s of %s: %q, want %q", name, h.Name, properties[name], want)
				}
			}
			for name, value := range properties {
				host, port, found := strings.Cut(value, ":")
				if owner := fmt.Sprint(base, h.Name, name); found && (host == "10.0.0.1" || host == "0.0.0.0") && client[name] == "" {
					if ports[port] != "" {
						t.Errorf("%s and %s have the port %s", ports[port], owner, port)
					}
					ports[port] = owner
				}
			}
			for name, value := range client {
				if properties[name] != value {
					t.Errorf("%s is %q for clients and %q on %s", name, value, properties[name], h.Name)
				}
			}
		}
		dir := t.TempDir()
		must.Do(t, p.WriteClientConf(dir))
		site, err := os.ReadFile(filepath.Join(dir, "yarn-site.xml"))
		must.Do(t, err)
		if !strings.Contains(string(site), fmt.Sprintf("<name>yarn.resourcemanager.address</name><value>10.0.0.1:%d<", base+26)) {
			t.Errorf("the configuration of clients: %s", site)
		}
	}
	if len(ports) != 2*2*6 { // a DataNode and a NodeManager have three each
		t.Errorf("ports %v", ports)
	}
	if call := parsePlan(t, "* hdfs=true\na").launchCall("datanode"); !strings.HasPrefix(call, "launch_hadoop jars datanode org.apache") {
		t.Errorf("without YARN: %s", call)
	}
}
