package engines

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/bench/data"
)

// spark runs the scripts of bench/rivals on YARN. Their driver is a process of this machine, which
// the others must reach.
type spark struct {
	*Machines
	python  string // the interpreter with Spark
	scripts string // directory of the scripts
	submit  string // arguments of spark-submit
}

// Memory of containers in MiB. An executor takes what the application master of its job, which is on
// one of the machines, leaves. A part of it is not Java's heap.
const (
	sparkMaster = 384
	heapParts   = 4   // of five
	leastHeap   = 450 // Spark refuses less
)

// newSpark puts Spark's jars into HDFS, from where each machine gets them once.
func newSpark(ctx context.Context, m *Machines, python, work string) (engine, error) {
	s := spark{m, python, filepath.Join(work, "spark"), ""}
	heap := (m.Memory - sparkMaster) * heapParts / (heapParts + 1)
	if heap < leastHeap {
		return engine{}, fmt.Errorf("an executor would have a heap of %d MiB and needs %d; give the machines more yarn-memory= than %d", heap, leastHeap, m.Memory)
	}
	if err := bench.WriteSparkScripts(s.scripts); err != nil {
		return engine{}, err
	}
	host, err := localAddress(m.Files)
	if err != nil {
		return engine{}, err
	}
	jars, err := s.putJars(ctx, filepath.Join(work, "spark-jars.zip"))
	if err != nil {
		return engine{}, fmt.Errorf("jars of Spark: %w", err)
	}
	s.submit = "--master yarn --deploy-mode client"
	for _, setting := range []string{
		"spark.yarn.archive=" + jars, "spark.driver.host=" + host, "spark.driver.bindAddress=0.0.0.0",
		"spark.executor.instances=" + strconv.Itoa(m.Tasknodes), "spark.executor.cores=" + strconv.Itoa(m.Slots),
		fmt.Sprintf("spark.executor.memory=%dm", heap), fmt.Sprintf("spark.executor.memoryOverhead=%dm", m.Memory-sparkMaster-heap),
		"spark.yarn.am.memory=256m", fmt.Sprintf("spark.yarn.am.memoryOverhead=%dm", sparkMaster-256),
		"spark.sql.shuffle.partitions=" + m.reduces(), "spark.scheduler.minRegisteredResourcesRatio=1",
	} {
		s.submit += " --conf " + setting
	}
	s.submit += " pyspark-shell"
	return engine{"spark", s.run}, nil
}

// localAddress returns the address of this machine that the machine of a URI sees.
func localAddress(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	c, err := net.Dial("udp", net.JoinHostPort(u.Hostname(), "9")) // sends nothing
	if err != nil {
		return "", err
	}
	defer c.Close()
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	return host, err
}

// putJars puts an archive of the jars of the interpreter's Spark into HDFS, and returns its full name.
func (s spark) putJars(ctx context.Context, archive string) (uri string, err error) {
	const show = "import pyspark; print(pyspark.__path__[0])"
	home, err := exec.CommandContext(ctx, s.python, "-c", show).Output()
	if err != nil {
		return "", err
	}
	err = data.File(archive, func(w *bufio.Writer) error {
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(w, flate.NoCompression) // jars are compressed themselves
		})
		return errors.Join(z.AddFS(os.DirFS(filepath.Join(strings.TrimSpace(string(home)), "jars"))), z.Close())
	})
	if err != nil {
		return "", err
	}
	uri = s.Files + "/" + filepath.Base(archive)
	_, err = s.Hammr.Run(ctx, "fs", "-put", "-f", archive, uri)
	return uri, errors.Join(err, os.Remove(archive))
}

func (s spark) run(ctx context.Context, r *request) error {
	script := r.work
	if r.work == "join" {
		script = "rowjoin" // the join of the rivals adds up amounts
	}
	cmd := exec.CommandContext(ctx, s.python, filepath.Join(s.scripts, script+".py"), r.in, r.out)
	cmd.Env = append(os.Environ(), "HADOOP_CONF_DIR="+s.YARN.Conf, "PYSPARK_SUBMIT_ARGS="+s.submit, "PYTHONDONTWRITEBYTECODE=1",
		"FILE_NAMES=file_path", "REGEX="+regex, "ROUNDS="+strconv.Itoa(r.rounds))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = clientEnd
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("spark: %w: %s", err, out[max(0, len(out)-errorBytes):])
	}
	return nil
}

// What is left of a client: how long it may take to end, and how much of its output an error quotes.
const (
	clientEnd  = 10 * time.Second
	errorBytes = 2000
)
