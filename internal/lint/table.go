package lint

// modulePath is the project's module; the table names packages without it.
const modulePath = "github.com/hammr/hammr"

// row says what the packages that match a pattern may import of this module. A pattern is a
// package ("storage") or all packages below one ("storage/...", without storage itself). The
// most specific matching row counts. Tests may import any package.
type row struct {
	pattern string
	imports []string // patterns; "..." is everything
}

// importTable says which package may import which. ARCHITECTURE.md has the picture. A new
// import between packages is a design decision, so it is made here and reviewed. An import
// against the order of the groups below is most often a mistake.
var importTable = []row{
	// The pure core.
	{"dag", nil},
	{"preempt", nil},
	{"cluster", []string{"dag", "preempt"}},
	{"internal/minheap", nil},
	{"locality/mincost", nil},
	{"locality", []string{"dag", "locality/mincost", "internal/minheap"}},
	{"sched", []string{"cluster", "preempt", "locality"}},
	{"sched/share", nil},
	{"sched/pool", []string{"cluster"}},
	{"sched/ledger", []string{"sched", "cluster"}},
	{"sched/placement", []string{"sched", "cluster", "locality"}},
	{"sched/sharetree", []string{"sched", "sched/placement", "cluster"}},
	{"sched/victim", []string{"sched", "sched/ledger", "cluster", "preempt"}},
	{"sched/hammr", []string{"cluster", "sched", "sched/fair", "sched/pool", "preempt"}},
	{"sched/...", []string{
		"sched", "sched/placement", "sched/sharetree", "sched/ledger", "sched/share", "sched/pool", "sched/victim", "cluster", "preempt", "locality", "internal/minheap",
	}},
	{"sched/schedtest", []string{"dag", "cluster", "sched", "preempt"}},
	{"sched/registry", []string{"sched", "sched/...", "preempt"}},
	{"control", []string{"dag", "cluster", "sched", "preempt", "internal/minheap"}},

	// Data: file systems, sorting, formats. These know no jobs.
	{"storage", []string{"internal/login"}},
	{"storage/...", []string{"storage"}},
	{"storage/hdfs", []string{"storage", "storage/hdfs/pipeline", "internal/conf", "internal/login", "internal/meminfo", "internal/syncutil"}},
	{"storage/hdfs/pipeline", nil},
	{"shuffle", []string{"dag", "storage", "internal/poison", "internal/validate"}},
	{"shuffle/transfer", []string{"shuffle", "storage", "internal/failpoint", "internal/httpserver", "internal/syncutil", "internal/taskdir"}},
	{"internal/endnotify", nil},
	{"internal/httpserver", nil},
	{"internal/lossless", nil},
	{"internal/keys", []string{"internal/lossless"}},
	{"internal/hashtable", nil},
	{"internal/poison", nil},
	{"internal/draw", nil},
	{"internal/pattern", nil},
	{"internal/disturb", nil},
	{"internal/format", []string{"dag", "storage"}},
	{"internal/format/...", []string{"dag", "storage", "internal/format", "internal/format/..."}},
	{"internal/format/splits", []string{"dag", "storage", "internal/format", "internal/taskproc"}},
	{"internal/fsconf", []string{"storage", "storage/...", "internal/conf", "internal/failpoint", "internal/syncutil"}},

	// One attempt, and the messages to and from it. A task knows no daemon: only messages and
	// files.
	{"internal/taskproc", []string{"dag", "internal/protocol"}},
	{"internal/wire", []string{"internal/taskproc"}},
	{"internal/wire/wireconnect", []string{"internal/wire"}},
	{"internal/checkpoint", []string{"shuffle", "shuffle/transfer", "storage", "internal/sealed", "internal/syncutil", "internal/taskproc"}},
	{"internal/task", []string{
		"dag", "shuffle", "shuffle/transfer", "storage",
		"internal/checkpoint", "internal/conf", "internal/counter", "internal/failpoint", "internal/fsconf", "internal/format", "internal/format/...",
		"internal/hashtable", "internal/meminfo", "internal/poison", "internal/profile", "internal/taskproc",
	}},

	// Daemons and the engine in one process. A jobmaster and a tasknode know each other by
	// messages only.
	{"tasknode", []string{"shuffle", "shuffle/transfer", "storage", "storage/local", "internal/checkpoint", "internal/conf", "internal/counter", "internal/failpoint", "internal/joblog", "internal/profile", "internal/protocol", "internal/sealed", "internal/syncutil", "internal/taskdir", "internal/validate", "internal/wire", "internal/taskproc"}},
	{"tasknode/artifact", []string{"internal/validate"}},
	{"tasknode/disks", []string{"internal/failpoint", "internal/owndir", "internal/syncutil", "internal/validate"}},
	{"tasknode/process", []string{"tasknode", "internal/conf", "internal/failpoint", "internal/procfs", "internal/taskdir", "internal/taskproc", "internal/validate", "internal/pattern"}},
	{"jobmaster", []string{
		"dag", "control", "cluster", "preempt", "sched", "sched/fifo", "sched/idle", "sched/placement", "storage", "internal/apidoc", "internal/clean", "internal/conf",
		"internal/counter", "internal/failpoint", "internal/format/splits", "internal/percentile", "internal/syncutil", "internal/validate", "internal/wire", "internal/taskproc",
		"jobmaster/board", "jobmaster/history", "internal/pattern",
	}},
	{"jobmaster/histindex", []string{"cluster", "storage", "jobmaster/history"}},
	{"jobmaster/history", []string{"cluster", "storage", "internal/apidoc", "internal/counter", "internal/wire", "jobmaster/board"}},
	{"jobmaster/board", []string{"cluster", "preempt", "internal/apidoc"}},
	{"jobmaster/raftlog", []string{"cluster", "jobmaster", "internal/failpoint", "internal/percentile", "internal/syncutil", "internal/validate"}},
	{"jobmaster/server", []string{
		"jobmaster", "cluster", "sched", "internal/audit", "internal/docs", "internal/protocol", "internal/syncutil", "internal/rpc", "internal/wire", "internal/wire/wireconnect",
	}},
	{"tasknode/masterlink", []string{"tasknode", "internal/syncutil", "internal/rpc", "internal/wire"}},
	{"internal/rpc", []string{"internal/httpserver", "internal/protocol", "internal/syncutil", "internal/validate", "internal/wire", "internal/wire/wireconnect", "internal/login"}},
	{"internal/audit", []string{"internal/rpc"}},
	{"internal/clean", []string{"internal/pattern"}},
	{"internal/web/access", []string{"internal/audit", "internal/httpserver", "internal/rpc", "internal/syncutil", "internal/validate"}},
	{"internal/client", []string{"cluster", "internal/wire", "internal/taskproc"}},
	{"internal/client/remote", []string{
		"storage", "internal/client", "internal/rpc", "internal/syncutil", "internal/taskproc", "internal/wire",
	}},
	{"internal/embedded", []string{
		"jobmaster", "tasknode", "cluster", "sched", "sched/fifo", "storage", "storage/local",
		"internal/client", "internal/owndir", "internal/syncutil", "internal/validate", "internal/wire", "internal/taskproc",
	}},
	{"sim", []string{
		"dag", "control", "cluster", "preempt", "sched", "sched/ledger", "sched/share", "internal/minheap", "internal/percentile", "sim/...", "internal/validate",
	}},
	{"sim/...", []string{"control", "cluster", "sched", "sched/registry", "sim", "internal/report", "sim/..."}},
	{"sim/results", []string{"cluster", "internal/draw", "internal/percentile", "sched", "sim", "sim/..."}},
	{"sim/workload", []string{"cluster", "internal/report", "internal/taskproc", "internal/wire", "jobmaster/history", "storage", "storage/local", "internal/validate"}},
	{"sim/fluid", []string{"internal/minheap"}},
	{"sim/tables", nil},

	// The programming interface, and what users see. Examples import what a user's program
	// may.
	{"mr", []string{
		"dag", "preempt", "shuffle", "storage",
		"internal/client", "internal/client/remote", "internal/conf", "internal/console", "internal/counter", "internal/disturb",
		"internal/embedded", "internal/failpoint", "internal/fsconf", "internal/format", "internal/format/...", "internal/hashtable", "internal/keys", "internal/lossless",
		"internal/poison", "internal/report", "internal/rpc", "internal/task",
		"internal/taskproc", "internal/wire", "internal/interrupt", "internal/login",
	}},
	{"mr/mrgob", []string{"mr", "internal/keys", "internal/lossless"}},
	{"mr/mrtest", []string{"mr", "internal/disturb"}},
	{"internal/conf", []string{"internal/login"}},
	{"internal/interrupt", nil},
	{"internal/login", nil},
	{"internal/counter", nil},
	{"internal/failpoint", []string{"internal/syncutil"}},
	{"internal/joblog", []string{"storage"}},
	{"internal/meminfo", nil},
	{"internal/nodelog", []string{"internal/rpc"}},
	{"internal/nodeprofile", []string{"internal/profile", "internal/rpc"}},
	{"internal/notice", []string{"internal/syncutil", "internal/validate", "internal/pattern"}},
	{"internal/percentile", nil},
	{"internal/profile", []string{"internal/syncutil"}},
	{"internal/protocol", nil},
	{"internal/syncutil", nil},
	{"internal/sealed", []string{"storage"}},
	{"internal/size", nil},
	{"internal/taskdir", nil},
	{"internal/validate", nil},
	{"internal/faultrpc", []string{"internal/failpoint", "internal/rpc", "internal/wire", "internal/wire/wireconnect"}},
	{"internal/report", []string{"internal/counter", "internal/taskproc", "internal/wire"}},
	{"internal/report/reporttest", []string{"internal/report"}},
	{"internal/console", []string{"internal/counter", "internal/report", "internal/size"}},
	{"internal/fsshell", []string{
		"storage", "storage/...", "internal/conf", "internal/format", "internal/format/...", "internal/pattern",
	}},
	{"examples", []string{"mr", "examples/..."}},
	{"examples/...", []string{"mr", "dag", "examples/..."}},
	{"examples/cmd/...", []string{"mr", "examples/..."}},
	{"examples/internal/extest", []string{"mr", "mr/mrtest"}},
	{"internal/scaffold", []string{"internal/pattern"}},
	{"internal/apidoc", []string{"internal/counter", "internal/report", "internal/size", "internal/wire"}},
	{"internal/daemon", []string{"internal/conf", "internal/failpoint", "internal/faultrpc", "internal/httpserver", "internal/jsonfile", "internal/percentile", "internal/rpc", "internal/syncutil"}},
	{"internal/docs", []string{
		"chaos", "cluster", "preempt", "internal/apidoc", "internal/clean", "internal/counter", "internal/hostfile", "internal/profile", "internal/report", "internal/web/access", "internal/wire", "jobmaster/histindex", "jobmaster/history",
	}},
	{"internal/web/analysis", []string{"internal/apidoc"}},
	{"internal/web", []string{
		"cluster", "internal/apidoc", "internal/clean", "internal/conf", "internal/counter", "internal/docs", "internal/draw", "internal/hostfile", "internal/percentile",
		"internal/profile", "internal/report", "internal/web/access", "chaos", "jobmaster/history", "sched", "sched/registry", "internal/pattern", "internal/web/analysis",
		"internal/web/hadoop", "internal/web/stacks", "internal/size",
	}},
	{"internal/web/browsertest", nil},
	{"internal/web/stacks", []string{"internal/clean", "internal/pattern"}},
	{"internal/web/hadoop", []string{
		"cluster", "internal/apidoc", "internal/clean", "internal/counter", "internal/docs", "internal/report", "internal/taskproc", "internal/web/access", "internal/wire",
	}},
	{"internal/web/files", []string{
		"chaos", "cluster", "internal/apidoc", "internal/counter", "internal/docs", "internal/report", "internal/wire", "jobmaster", "jobmaster/histindex", "jobmaster/history", "storage",
	}},
	{"internal/web/answers", []string{"internal/docs"}},
	{"internal/web/board", []string{
		"cluster", "jobmaster", "jobmaster/board", "jobmaster/history", "preempt", "sched", "internal/apidoc", "internal/counter", "internal/report", "internal/syncutil", "internal/taskproc", "internal/docs", "internal/web/answers", "internal/wire",
	}},
	{"internal/web/local", []string{
		"cluster", "jobmaster", "internal/apidoc", "internal/daemon", "internal/docs", "internal/profile", "internal/report", "internal/web", "internal/web/access", "internal/web/board",
	}},
	{"internal/web/remote", []string{"sched/registry", "internal/apidoc", "internal/docs", "internal/profile", "internal/rpc", "internal/web/access", "internal/web/answers"}},
	{"internal/web/leader", []string{
		"storage", "internal/apidoc", "internal/client", "internal/client/remote", "internal/joblog", "internal/nodelog", "internal/nodeprofile", "internal/docs", "internal/profile", "internal/report", "internal/rpc",
		"internal/web/answers", "internal/wire",
	}},
	{"internal/masterd", []string{
		"cluster", "jobmaster", "jobmaster/board", "jobmaster/raftlog", "jobmaster/server", "preempt", "sched", "sched/pool", "sched/registry", "shuffle/transfer", "storage",
		"internal/conf", "internal/daemon", "internal/endnotify", "internal/failpoint", "internal/faultrpc", "internal/fsconf", "internal/nodeprofile", "internal/owndir", "internal/percentile", "internal/rpc", "internal/syncutil", "internal/validate", "internal/wire",
		"internal/audit", "internal/web", "internal/web/access", "internal/web/board", "internal/web/files", "internal/web/hadoop", "internal/web/leader", "jobmaster/histindex",
	}},
	{"internal/tasknoded", []string{
		"cluster", "shuffle/transfer", "storage", "storage/local", "tasknode", "tasknode/...", "internal/apidoc", "internal/audit", "internal/conf", "internal/daemon",
		"internal/docs", "internal/failpoint", "internal/fsconf", "internal/jsonfile", "internal/meminfo", "internal/nodelog", "internal/nodeprofile", "internal/notice",
		"internal/procfs", "internal/profile", "internal/rpc", "internal/syncutil", "internal/taskdir", "internal/taskproc", "internal/validate", "internal/web/hadoop",
		"internal/wire", "internal/owndir",
	}},
	{"internal/doctor", []string{
		"storage", "tasknode/process", "internal/conf", "internal/daemon", "internal/failpoint", "internal/masterd", "internal/meminfo", "internal/pattern", "internal/percentile",
		"internal/protocol", "internal/rpc", "internal/tasknoded", "internal/wire", "internal/apidoc", "internal/docs",
	}},
	{"internal/launch", []string{"internal/daemon", "internal/owndir", "internal/procfs", "internal/syncutil"}},
	{"internal/localcluster", []string{
		"internal/daemon", "internal/jsonfile", "internal/launch", "internal/netns", "internal/owndir", "internal/procfs", "internal/syncutil",
	}},
	{"internal/testcluster", []string{
		"internal/client/remote", "internal/docs", "internal/faultrpc", "internal/hostfile", "internal/localcluster", "internal/procfs", "internal/rpc", "internal/syncutil",
		"internal/wire",
	}},
	{"internal/hostfile", nil},
	{"internal/sshcluster", []string{
		"internal/apidoc", "internal/client", "internal/docs", "internal/hostfile", "internal/launch", "internal/minihdfs", "internal/rpc", "internal/suspend", "internal/syncutil",
		"internal/validate", "internal/wire",
	}},
	{"internal/allocation", []string{
		"internal/client", "internal/daemon", "internal/docs", "internal/hostfile", "internal/jsonfile", "internal/launch", "internal/masterd", "internal/meminfo",
		"internal/owndir", "internal/procfs", "internal/report", "internal/rpc", "internal/suspend", "internal/syncutil", "internal/taskdir", "internal/validate",
	}},
	{"internal/suspend", []string{"internal/client", "internal/docs", "internal/syncutil"}},
	{"chaos", []string{"preempt", "internal/failpoint"}},
	{"chaos/rig", []string{
		"shuffle", "internal/faultrpc", "internal/localcluster", "internal/minihdfs", "internal/netns", "internal/taskdir", "internal/testcluster",
	}},
	{"chaos/drill", []string{
		"chaos", "chaos/rig", "internal/docs", "internal/hostfile", "internal/minihdfs", "internal/taskproc", "internal/testcluster", "internal/wire", "preempt",
	}},
	{"chaos/simulate", []string{"chaos", "cluster", "preempt", "internal/failpoint", "sched/fifo", "sim", "sim/workload"}},
	{"hammrtest", []string{"chaos/rig", "mr", "internal/testcluster", "internal/wire", "internal/docs"}},
	{"bench", []string{
		"bench/data", "internal/jsonfile", "internal/localcluster", "internal/minihdfs", "internal/procfs", "internal/testcluster", "internal/validate", "sim/tables",
	}},
	{"bench/data", nil},
	{"bench/paper", []string{"cluster", "internal/draw", "locality", "preempt", "sched", "sched/registry", "sim", "sim/...", "internal/percentile"}},
	{"bench/live", []string{
		"internal/client", "bench", "bench/data", "bench/paper", "chaos/rig", "cluster", "internal/jsonfile", "preempt", "jobmaster/history", "internal/client/remote",
		"internal/conf", "internal/counter", "internal/docs", "internal/apidoc", "internal/localcluster", "internal/minihdfs", "internal/netns", "internal/percentile",
		"internal/taskproc", "internal/testcluster", "internal/syncutil", "internal/wire", "sched", "sched/registry", "sim", "sim/results", "sim/tables", "sim/workload",
		"internal/pattern",
	}},
	{"bench/suspend", []string{"internal/draw", "sim/results", "sim/tables", "internal/procfs"}},
	{"bench/fleet", []string{
		"bench", "chaos/rig", "cluster", "dag", "internal/client", "internal/client/remote", "internal/counter", "internal/docs", "internal/jsonfile", "internal/percentile",
		"internal/procfs", "internal/rpc", "internal/syncutil", "internal/taskproc", "internal/testcluster", "internal/validate", "internal/apidoc", "internal/wire", "sim/tables",
		"storage", "storage/local", "tasknode", "tasknode/masterlink",
	}},
	{"bench/program/...", []string{"bench", "dag", "mr"}},
	{"cli", []string{"..."}},
	{"cmd/...", []string{"cli", "internal/taskproc"}},
	{"deploy/packages/man", []string{"cli"}},

	// Tools for tests. Nothing that ships imports them, except the laboratory; the HDFS of a
	// cluster over ssh is that of internal/minihdfs.
	{"internal/minihdfs", []string{
		"internal/jsonfile", "internal/launch", "internal/netns", "internal/owndir", "internal/procfs", "internal/syncutil", "internal/pattern", "internal/validate",
	}},
	{"internal/minihdfs/...", []string{"internal/minihdfs"}},
	{"internal/sshcluster/sshtest", []string{"internal/procfs", "internal/syncutil"}},
	{"internal/lint", nil},
	{"internal/inittest", nil},
	{"internal/reachable", nil},
	{"internal/testlevel", nil},
	{"internal/netns", nil},
	{"internal/jsonfile", []string{"internal/owndir"}},
	{"internal/owndir", nil},
	{"internal/procfs", []string{"internal/syncutil"}},
	{"deploy/systemdtest", nil},
	{"e2e", nil},
	{"deploy/test", nil},
	{"e2e/redteam", nil},
	{"e2e/redteam/hostile", []string{"internal/taskdir", "internal/taskproc"}},
	{"e2e/redteam/bystander", []string{"mr"}},
}

// purePackages are the core: the same code runs in the jobmaster, in the
// simulator and in tests, so it gets time, randomness and events as values.
var purePackages = []string{
	"dag", "cluster", "cluster/...", "sched", "sched/...", "preempt", "preempt/...",
	"locality", "locality/...", "control", "control/...", "internal/minheap", "sim/fluid",
}

// restriction allows the import of a module, or of a package of this one, to few packages.
type restriction struct {
	module string
	only   []string // patterns
	why    string
}

// restricted are modules and packages that few packages may import, and why. The reason is
// part of the finding, so that the reader of one need not look here.
var restricted = []restriction{
	{"github.com/hashicorp/raft", []string{"jobmaster/raftlog"}, "everybody else uses the Log that jobmaster declares"},
	{"encoding/gob", []string{"mr/mrgob"}, "a program that does not use gob does not contain it"},
	{"github.com/spf13/cobra", []string{"cli", "deploy/packages/man"}, "libraries parse no command lines"},

	// Policies: masters and the simulator get them from sched/registry, by name.
	{modulePath + "/sched/fifo", []string{"sched/registry", "jobmaster", "internal/embedded", "chaos/simulate"}, samePolicyReason},
	{modulePath + "/sched/idle", []string{"jobmaster"}, samePolicyReason},
	{modulePath + "/sched/fair", []string{"sched/registry", "sched/hammr"}, samePolicyReason},
	{modulePath + "/sched/hammr", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/hfsp", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/disco", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/chronos", []string{"sched/registry"}, samePolicyReason},
}

const samePolicyReason = "a policy of a name is the same in a jobmaster and in the simulator"

// unlinked are modules and packages that must not be in a program, not even indirectly. A
// program is covered if a pattern matches it or if it depends on importing.
var unlinked = []struct {
	programs  []string // patterns
	importing string   // and every package that depends on this one
	except    []string // patterns
	banned    []string
	why       string
}{
	{
		programs: []string{"mr", "mr/..."}, importing: "mr", except: []string{"cli", "cmd/...", "deploy/packages/man"},
		banned: []string{"github.com/hashicorp/raft", "github.com/spf13/cobra"},
		why:    "a user's program stays small and starts fast",
	},
	{
		programs: []string{"jobmaster", "jobmaster/...", "tasknode", "tasknode/..."},
		banned:   []string{modulePath + "/mr"},
		why:      "the daemons know tasks, not how people write them",
	},
}

// testHelpers are packages for tests. No program links them.
var testHelpers = []string{
	"examples/internal/extest", "internal/inittest", "internal/lint", "internal/reachable", "internal/report/reporttest", "internal/sshcluster/sshtest",
	"internal/testlevel", "internal/web/browsertest", "mr/mrtest", "sched/schedtest", "storage/hdfs/namenodetest", "storage/storagetest",
}

// reach is what a program may link.
type reach struct {
	program  string
	modules  []string // of others: exactly these
	packages int      // in all, at most
}

// taskModules are the modules in a user's program.
var taskModules = []string{
	"connectrpc.com/connect",
	"github.com/cespare/xxhash/v2",
	"github.com/colinmarc/hdfs/v2",
	"github.com/dsnet/compress",
	"github.com/fxamacker/cbor/v2",
	"github.com/hashicorp/go-uuid",
	"github.com/jcmturner/aescts/v2",
	"github.com/jcmturner/dnsutils/v2",
	"github.com/jcmturner/gofork",
	"github.com/jcmturner/goidentity/v6",
	"github.com/jcmturner/gokrb5/v8",
	"github.com/jcmturner/rpc/v2",
	"github.com/klauspost/compress",
	"github.com/pierrec/lz4/v4",
	"github.com/x448/float16",
	"golang.org/x/crypto",
	"golang.org/x/net",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/term",
	"google.golang.org/protobuf",
}

// reached says what programs link: `go list -deps` prints it.
var reached = []reach{
	{"mr", taskModules, 398},
	{"cmd/hammr", append([]string{
		"github.com/beorn7/perks",
		"github.com/coreos/go-systemd/v22",
		"github.com/fatih/color",
		"github.com/goccy/go-yaml",
		"github.com/hashicorp/go-hclog",
		"github.com/hashicorp/go-immutable-radix",
		"github.com/hashicorp/go-metrics",
		"github.com/hashicorp/go-msgpack/v2",
		"github.com/hashicorp/golang-lru",
		"github.com/hashicorp/raft",
		"github.com/mattn/go-colorable",
		"github.com/mattn/go-isatty",
		"github.com/munnerz/goautoneg",
		"github.com/prometheus/client_golang",
		"github.com/prometheus/client_model",
		"github.com/prometheus/common",
		"github.com/prometheus/procfs",
		"github.com/spf13/cobra",
		"github.com/spf13/pflag",
		"go.etcd.io/bbolt",
		"golang.org/x/time",
		"gopkg.in/natefinch/lumberjack.v2",
	}, taskModules...), 576},
}

// parts bound the lines of code, and maxTestLines those of tests. They are what there is today; a change that
// needs more raises them.
var parts = []part{
	{"commands", []string{"cli", "cmd/..."}, 7_545},
	{"pages", []string{"internal/apidoc", "internal/docs", "internal/draw", "internal/web", "internal/web/...", "jobmaster/board", "jobmaster/history", "jobmaster/histindex"}, 16_950},
	{"laboratory", []string{
		"bench", "bench/...", "chaos", "chaos/...", "hammrtest", "internal/minihdfs", "internal/minihdfs/...", "internal/netns", "internal/testcluster", "internal/testcluster/...",
		"sim", "sim/...",
	}, 23_950},
	{"rest", []string{"..."}, 93_925},
}

const (
	maxTestLines = 116_490
	// maxProgramBytes bounds bin/hammr, stripped.
	maxProgramBytes = 46_500_000
)

// maxJobBytes bounds the machine code of packages with a job. The compiler compiles the generic code
// of mr again in each of them: all methods of each type that it can reach, and the functions that it
// calls. So what a type leads to costs every program, and a function costs only those that call it.
var maxJobBytes = map[string]int{
	"examples/wordcount":     190_000, // a Job
	"examples/wordcountpipe": 320_000, // a Graph
}
