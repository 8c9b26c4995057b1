//go:build deploy

package deploytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/testing/must"
)

// kubernetes is a Kubernetes with its own etcd on loopback addresses of this machine. Its nodes are
// fake: kwok says of them and of their pods what kubelets would say, and runs no container.
type kubernetes struct {
	programs string // directory
	work     string // directory with all certificates, data and logs
	starter  *procfs.Starter
	daemons  []*kubernetesDaemon
}

// kubernetesDaemon is a process of the control plane, or kwok.
type kubernetesDaemon struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// kubernetesPatience bounds each wait and each command.
const kubernetesPatience = 3 * time.Minute

// nodeNames are the fake nodes, each with 8 CPUs and 32 GiB.
var nodeNames = []string{"n1", "n2", "n3", "n4", "n5"}

// startAPI starts etcd and the API server, with the addresses of which the last two are free for others.
// All of it ends with the test.
func startAPI(t *testing.T, programs string) (k *kubernetes, ports []string) {
	t.Helper()
	k = &kubernetes{programs: programs, work: t.TempDir(), starter: procfs.NewStarter()}
	t.Cleanup(k.stop)
	addresses, err := launch.FreePorts("127.0.0.1", 5)
	must.Do(t, err)
	for _, address := range addresses {
		ports = append(ports, address[strings.LastIndex(address, ":")+1:])
	}
	makeCertificates(t, k.work, "https://"+addresses[2])
	k.start(t, "etcd", "--data-dir=etcd", "--name=e", "--log-level=error", "--unsafe-no-fsync",
		"--listen-client-urls=http://"+addresses[0], "--advertise-client-urls=http://"+addresses[0],
		"--listen-peer-urls=http://"+addresses[1], "--initial-advertise-peer-urls=http://"+addresses[1], "--initial-cluster=e=http://"+addresses[1])
	k.start(t, "kube-apiserver", "--etcd-servers=http://"+addresses[0], "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--secure-port="+ports[2], "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
		"--tls-cert-file=server.crt", "--tls-private-key-file=server.key", "--client-ca-file=ca.crt",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=server.key", "--service-account-signing-key-file=server.key")
	k.until(t, "the API server is ready", func() bool {
		_, err := k.try("", "get", "--raw=/readyz")
		return err == nil
	})
	return k, ports[3:]
}

// startKubernetes starts all daemons, and waits until the nodes are ready.
func startKubernetes(t *testing.T, programs string) *kubernetes {
	t.Helper()
	k, ports := startAPI(t, programs)
	k.start(t, "kube-controller-manager", "--kubeconfig=system:kube-controller-manager.conf", "--leader-elect=false", "--use-service-account-credentials",
		"--bind-address=127.0.0.1", "--secure-port="+ports[0], "--service-account-private-key-file=server.key", "--root-ca-file=ca.crt")
	k.start(t, "kube-scheduler", "--kubeconfig=system:kube-scheduler.conf", "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port="+ports[1])
	stages, err := filepath.Abs("testdata/kwok.yaml")
	must.Do(t, err)
	k.start(t, "kwok", "--kubeconfig=admin.conf", "--config="+stages, "--manage-all-nodes", "--node-lease-duration-seconds=40", "--node-ip=10.1.0.1", "--cidr=10.2.0.0/16")
	k.apply(t, machines())
	k.until(t, "all nodes are ready", func() bool { return count(k.list(t, "nodes"), ready) == len(nodeNames) })
	return k
}

// machines returns the manifests of the nodes, and of volumes that any of them can mount.
func machines() string {
	var text strings.Builder
	for _, name := range nodeNames {
		const resources = `{cpu: "8", memory: 32Gi, pods: "110"}`
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s}}\nstatus: {capacity: %s, allocatable: %[2]s}\n", name, resources)
	}
	text.WriteString("---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\n" +
		"metadata: {name: disks, annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\n" +
		"provisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n")
	for i := range 16 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk-%d}\n"+
			"spec: {storageClassName: disks, capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /disk-%[1]d}}\n", i)
	}
	return text.String()
}

// start starts a program in the working directory. It gets SIGKILL if the test dies.
func (k *kubernetes) start(t *testing.T, name string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(k.work, name+".log"))
	must.Do(t, err)
	defer log.Close()
	d := &kubernetesDaemon{name: name, cmd: exec.Command(filepath.Join(k.programs, name), args...), ended: make(chan struct{})}
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = k.work, log, log
	d.cmd.Env = append(os.Environ(), "HOME="+k.work)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, k.starter.Start(d.cmd.Start))
	k.daemons = append(k.daemons, d)
	go func() {
		_ = d.cmd.Wait() // it ends by a signal; until looks at ended
		close(d.ended)
	}()
}

// stop ends all daemons, the last one first.
func (k *kubernetes) stop() {
	for i := len(k.daemons) - 1; i >= 0; i-- {
		_ = k.daemons[i].cmd.Process.Kill() // it may have ended
		<-k.daemons[i].ended
	}
	k.starter.Close()
}

// explain logs the objects of a namespace, and the ends of the logs, if the test has failed.
func (k *kubernetes) explain(t *testing.T, namespace string) {
	if !t.Failed() {
		return
	}
	for _, args := range [][]string{{"get", "statefulsets,pods,pdb,pvc", "-o", "wide"}, {"get", "events", "--sort-by=.lastTimestamp"}} {
		out, err := k.try("", append([]string{"-n", namespace}, args...)...)
		t.Logf("%q: %v\n%s", args, err, out)
	}
	for _, d := range k.daemons {
		text, err := os.ReadFile(filepath.Join(k.work, d.name+".log"))
		t.Logf("%s: %v\n%s", d.name, err, text[max(0, len(text)-2000):])
	}
}

// command returns a command of kubectl.
func (k *kubernetes) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(k.programs, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "HOME="+k.work, "KUBECONFIG="+k.config())
	return cmd
}

// config returns the file by which clients reach the API server as its administrator.
func (k *kubernetes) config() string { return filepath.Join(k.work, "admin.conf") }

// try runs kubectl with a text as its input, and returns its output. An error has what it printed
// elsewhere, and so has a warning of the API server.
func (k *kubernetes) try(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), kubernetesPatience)
	defer cancel()
	cmd := k.command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil && strings.Contains(stderr.String(), "Warning:") {
		err = fmt.Errorf("a warning")
	}
	if err != nil {
		err = fmt.Errorf("kubectl %q: %w: %s", args, err, stderr.Bytes())
	}
	return string(out), err
}

// do runs kubectl, which must succeed without a warning.
func (k *kubernetes) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := k.try("", args...)
	must.Do(t, err)
	return out
}

// apply applies manifests.
func (k *kubernetes) apply(t *testing.T, text string, args ...string) {
	t.Helper()
	_, err := k.try(text, append([]string{"apply", "-f", "-"}, args...)...)
	must.Do(t, err)
}

// list returns objects, as kubectl get selects them.
func (k *kubernetes) list(t *testing.T, args ...string) []node {
	t.Helper()
	var list struct{ Items []node }
	must.Do(t, json.Unmarshal([]byte(k.do(t, append([]string{"get", "-o", "json"}, args...)...)), &list))
	return list.Items
}

// until waits until a condition holds.
func (k *kubernetes) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kubernetesPatience)
	defer cancel()
	err := syncutil.Poll(ctx, 300*time.Millisecond, func(context.Context) (bool, error) {
		for _, d := range k.daemons {
			select {
			case <-d.ended:
				text, err := os.ReadFile(filepath.Join(k.work, d.name+".log"))
				return false, fmt.Errorf("%s has ended: %w\n%s", d.name, err, text[max(0, len(text)-4000):])
			default:
			}
		}
		return done(), nil
	})
	if err != nil {
		t.Fatalf("waiting in vain until %s: %v", what, err)
	}
}

// name returns the name of an object.
func name(object node) string { return fmt.Sprint(object.at("metadata", "name")) }

// ready reports whether a node or a pod is ready, and is not ending.
func ready(object node) bool {
	conditions, _ := object.at("status", "conditions").([]any)
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Ready" {
			return c["status"] == "True" && object.at("metadata", "deletionTimestamp") == nil
		}
	}
	return false
}

// count returns the number of objects for which a condition holds.
func count(objects []node, condition func(node) bool) (n int) {
	for _, object := range objects {
		if condition(object) {
			n++
		}
	}
	return n
}
