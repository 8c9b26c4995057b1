//go:build deploy

package deploytest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/testing/must"
)

// Versions of the programs of a Kubernetes. The modules below staging in its repository have the
// version k8s.io/api v0.M.P if Kubernetes has v1.M.P.
const (
	kubernetesVersion = "v1.37.2"
	stagingVersion    = "v0.37.2"
	etcdVersion       = "v3.7.0" // the one that this Kubernetes is tested with
	kwokVersion       = "v0.8.0"
)

// kubernetesPrograms are the programs that the test runs, and their packages.
var kubernetesPrograms = map[string]string{
	"etcd":                    "go.etcd.io/etcd/server/v3",
	"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
	"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
	"kube-scheduler":          "k8s.io/kubernetes/cmd/kube-scheduler",
	"kubectl":                 "k8s.io/kubernetes/cmd/kubectl",
	"kwok":                    "sigs.k8s.io/kwok/cmd/kwok",
}

// stagingModules are those that Kubernetes takes from its own repository.
var stagingModules = strings.Fields(`api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider
	cluster-bootstrap code-generator component-base component-helpers controller-manager cri-api cri-client cri-streaming
	csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator kube-controller-manager
	kube-proxy kube-scheduler kubectl kubelet metrics mount-utils pod-security-admission sample-apiserver
	sample-cli-plugin sample-controller streaming`)

// kubernetesModule is the go.mod by which the programs are built.
func kubernetesModule() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "module kubernetes\n\ngo 1.26.0\n\nrequire (\n\tgo.etcd.io/etcd/server/v3 %s\n\tk8s.io/kubernetes %s\n\tsigs.k8s.io/kwok %s\n)\n\nreplace (\n",
		etcdVersion, kubernetesVersion, kwokVersion)
	for _, name := range stagingModules {
		fmt.Fprintf(&text, "\tk8s.io/%s => k8s.io/%[1]s %s\n", name, stagingVersion)
	}
	text.WriteString(")\n")
	return text.Bytes()
}

// buildKubernetes returns a directory with programs of a Kubernetes. It builds those that are missing
// from Go modules, in the user's cache directory, and skips the test if that fails.
func buildKubernetes(t *testing.T, names ...string) string {
	t.Helper()
	module := kubernetesModule()
	hash := fnv.New64a()
	hash.Write(module)
	user, err := os.UserCacheDir()
	must.Do(t, err)
	dir := filepath.Join(user, "hammr", fmt.Sprintf("kubernetes-%x", hash.Sum64()))
	must.Do(t, os.MkdirAll(dir, 0o755))
	unlock, err := procfs.Lock(t.Context(), filepath.Join(dir, "lock"))
	must.Do(t, err)
	defer unlock()
	for _, name := range names {
		program := filepath.Join(dir, name)
		if _, err := os.Stat(program); err == nil {
			continue
		}
		t.Logf("building %s of Kubernetes %s in %s", name, kubernetesVersion, dir)
		if err := buildProgram(t.Context(), dir, module, kubernetesPrograms[name], program); err != nil {
			t.Skipf("%s cannot be built, which needs a module proxy of Go or its cache: %v", name, err)
		}
	}
	return dir
}

// buildProgram builds a package into a file, which is complete when it is there.
func buildProgram(ctx context.Context, dir string, module []byte, pkg, program string) error {
	source := filepath.Join(dir, "source")
	if err := os.MkdirAll(source, 0o755); err != nil {
		return err
	}
	file := filepath.Join(source, "go.mod")
	if _, err := os.Stat(file); err != nil { // go build adds requirements, which the next one uses
		if err := os.WriteFile(file, module, 0o644); err != nil {
			return err
		}
	}
	const version = "k8s.io/component-base/version."
	minor := strings.Split(kubernetesVersion, ".")[1]
	flags := fmt.Sprintf("-s -w -X %[1]sgitVersion=%s -X %[1]sgitMajor=1 -X %[1]sgitMinor=%s", version, kubernetesVersion, minor)
	// Without inlining, a package of Kubernetes is compiled in two thirds of the time, and there are many.
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-gcflags=k8s.io/...=-l", "-ldflags="+flags, "-o", program+".new", pkg)
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.Rename(program+".new", program)
}
