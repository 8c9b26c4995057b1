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
// import between packages is a design decision, so it is made here and reviewed.
var importTable = []row{
	// The pure core.
	{"dag", nil},
	{"preempt", nil},
	{"cluster", []string{"dag", "preempt"}},
	{"internal/kit/minheap", nil},
	{"locality/mincost", nil},
	{"locality", []string{"dag", "locality/mincost", "internal/kit/minheap"}},
	{"sched", []string{"cluster", "preempt", "locality"}},
	{"sched/share", nil},
	{"sched/pool", []string{"cluster"}},
	{"sched/ledger", []string{"sched", "cluster"}},
	{"sched/placement", []string{"sched", "cluster", "locality"}},
	{"sched/sharetree", []string{"sched", "sched/placement", "cluster"}},
	{"sched/victim", []string{"sched", "sched/ledger", "cluster", "preempt"}},
	{"sched/hammr", []string{"cluster", "sched", "sched/fair", "sched/pool", "preempt"}},
	{"sched/...", []string{
		"sched", "sched/placement", "sched/sharetree", "sched/ledger", "sched/share", "sched/pool", "sched/victim", "cluster", "preempt", "locality", "internal/kit/minheap",
	}},
	{"sched/schedtest", []string{"dag", "cluster", "sched", "preempt"}},
	{"sched/registry", []string{"sched", "sched/...", "preempt"}},
	{"control", []string{"dag", "cluster", "sched", "preempt", "internal/kit/minheap"}},

	// Data: file systems, sorting, formats. These know no jobs.
	{"storage", []string{"internal/kit/login"}},
	{"storage/...", []string{"storage"}},
	{"storage/hdfs", []string{"storage", "storage/hdfs/pipeline", "internal/conf", "internal/kit/login", "internal/kit/meminfo", "internal/kit/syncutil"}},
	{"storage/hdfs/pipeline", nil},
	{"shuffle", []string{"dag", "storage", "internal/data/poison", "internal/kit/validate"}},
	{"shuffle/transfer", []string{"shuffle", "storage", "internal/kit/failpoint", "internal/rpc/httpserver", "internal/kit/syncutil", "internal/data/taskdir"}},
	{"internal/daemon/endnotify", nil},
	{"internal/rpc/httpserver", nil},
	{"internal/data/lossless", nil},
	{"internal/data/keys", []string{"internal/data/lossless"}},
	{"internal/data/hashtable", nil},
	{"internal/data/poison", nil},
	{"internal/web/draw", nil},
	{"internal/kit/pattern", nil},
	{"internal/task/disturb", nil},
	{"internal/data/format", []string{"dag", "storage"}},
	{"internal/data/format/...", []string{"dag", "storage", "internal/data/format", "internal/data/format/..."}},
	{"internal/data/format/splits", []string{"dag", "storage", "internal/data/format", "internal/rpc/taskproc"}},
	{"internal/conf/fsconf", []string{"storage", "storage/...", "internal/conf", "internal/kit/failpoint", "internal/kit/syncutil"}},

	// One attempt, and the messages to and from it. A task knows no daemon: only messages and
	// files.
	{"internal/rpc/taskproc", []string{"dag", "internal/rpc/protocol"}},
	{"internal/rpc/wire", []string{"internal/rpc/taskproc"}},
	{"internal/rpc/wire/wireconnect", []string{"internal/rpc/wire"}},
	{"internal/task/checkpoint", []string{"shuffle", "shuffle/transfer", "storage", "internal/task/sealed", "internal/kit/syncutil", "internal/rpc/taskproc"}},
	{"internal/task", []string{
		"dag", "shuffle", "shuffle/transfer", "storage",
		"internal/task/checkpoint", "internal/conf", "internal/conf/counter", "internal/kit/failpoint", "internal/conf/fsconf", "internal/data/format", "internal/data/format/...",
		"internal/data/hashtable", "internal/kit/meminfo", "internal/data/poison", "internal/logs/profile", "internal/rpc/taskproc",
	}},

	// Daemons and the engine in one process. A jobmaster and a tasknode know each other by
	// messages only.
	{"tasknode", []string{"shuffle", "shuffle/transfer", "storage", "storage/local", "internal/task/checkpoint", "internal/conf", "internal/conf/counter", "internal/kit/failpoint", "internal/logs/joblog", "internal/logs/profile", "internal/rpc/protocol", "internal/task/sealed", "internal/kit/syncutil", "internal/data/taskdir", "internal/kit/validate", "internal/rpc/wire", "internal/rpc/taskproc"}},
	{"tasknode/artifact", []string{"internal/kit/validate"}},
	{"tasknode/disks", []string{"internal/kit/failpoint", "internal/kit/owndir", "internal/kit/syncutil", "internal/kit/validate"}},
	{"tasknode/process", []string{"tasknode", "internal/conf", "internal/kit/failpoint", "internal/kit/procfs", "internal/data/taskdir", "internal/rpc/taskproc", "internal/kit/validate", "internal/kit/pattern"}},
	{"jobmaster", []string{
		"dag", "control", "cluster", "preempt", "sched", "sched/fifo", "sched/idle", "sched/placement", "storage", "internal/docs/apidoc", "internal/kit/clean", "internal/conf",
		"internal/conf/counter", "internal/kit/failpoint", "internal/data/format/splits", "internal/kit/percentile", "internal/kit/syncutil", "internal/kit/validate", "internal/rpc/wire", "internal/rpc/taskproc",
		"internal/docs/board", "internal/docs/history", "internal/kit/pattern",
	}},
	{"internal/docs/histindex", []string{"cluster", "storage", "internal/docs/history"}},
	{"internal/docs/history", []string{"cluster", "storage", "internal/docs/apidoc", "internal/conf/counter", "internal/rpc/wire", "internal/docs/board"}},
	{"internal/docs/board", []string{"cluster", "preempt", "internal/docs/apidoc"}},
	{"jobmaster/raftlog", []string{"cluster", "jobmaster", "internal/kit/failpoint", "internal/kit/percentile", "internal/kit/syncutil", "internal/kit/validate"}},
	{"jobmaster/server", []string{
		"jobmaster", "cluster", "sched", "internal/rpc/audit", "internal/docs", "internal/rpc/protocol", "internal/kit/syncutil", "internal/rpc", "internal/rpc/wire", "internal/rpc/wire/wireconnect",
	}},
	{"tasknode/masterlink", []string{"tasknode", "internal/kit/syncutil", "internal/rpc", "internal/rpc/wire"}},
	{"internal/rpc", []string{"internal/rpc/httpserver", "internal/rpc/protocol", "internal/kit/syncutil", "internal/kit/validate", "internal/rpc/wire", "internal/rpc/wire/wireconnect", "internal/kit/login"}},
	{"internal/rpc/audit", []string{"internal/rpc"}},
	{"internal/kit/clean", []string{"internal/kit/pattern"}},
	{"internal/rpc/access", []string{"internal/rpc/audit", "internal/rpc/httpserver", "internal/rpc", "internal/kit/syncutil", "internal/kit/validate"}},
	{"internal/client", []string{"cluster", "internal/rpc/wire", "internal/rpc/taskproc"}},
	{"internal/client/remote", []string{
		"storage", "internal/client", "internal/rpc", "internal/kit/syncutil", "internal/rpc/taskproc", "internal/rpc/wire",
	}},
	{"internal/client/embedded", []string{
		"jobmaster", "tasknode", "cluster", "sched", "sched/fifo", "storage", "storage/local",
		"internal/client", "internal/kit/owndir", "internal/kit/syncutil", "internal/kit/validate", "internal/rpc/wire", "internal/rpc/taskproc",
	}},
	{"sim", []string{
		"dag", "control", "cluster", "preempt", "sched", "sched/ledger", "sched/share", "internal/kit/minheap", "internal/kit/percentile", "sim/...", "internal/kit/validate",
	}},
	{"sim/...", []string{"control", "cluster", "sched", "sched/registry", "sim", "internal/docs/report", "sim/..."}},
	{"sim/results", []string{"cluster", "internal/web/draw", "internal/kit/percentile", "sched", "sim", "sim/..."}},
	{"sim/workload", []string{"cluster", "internal/docs/apidoc", "internal/docs/board", "internal/docs/report", "internal/rpc/taskproc", "internal/rpc/wire", "internal/docs/history", "storage", "storage/local", "internal/kit/validate"}},
	{"sim/fluid", nil},
	{"sim/tables", nil},

	// The programming interface, and what users see. Examples import what a user's program
	// may.
	{"mr", []string{
		"dag", "preempt", "shuffle", "storage",
		"internal/client", "internal/client/remote", "internal/conf", "internal/client/console", "internal/conf/counter", "internal/task/disturb",
		"internal/client/embedded", "internal/kit/failpoint", "internal/conf/fsconf", "internal/data/format", "internal/data/format/...", "internal/data/hashtable", "internal/data/keys", "internal/data/lossless",
		"internal/data/poison", "internal/docs/report", "internal/rpc", "internal/task",
		"internal/rpc/taskproc", "internal/rpc/wire", "internal/kit/interrupt", "internal/kit/login",
	}},
	{"mr/mrgob", []string{"mr", "internal/data/keys", "internal/data/lossless"}},
	{"mr/mrtest", []string{"mr", "internal/task/disturb"}},
	{"internal/conf", []string{"internal/kit/login"}},
	{"internal/kit/interrupt", nil},
	{"internal/kit/login", nil},
	{"internal/conf/counter", []string{"internal/kit/meminfo"}},
	{"internal/kit/failpoint", []string{"internal/kit/syncutil"}},
	{"internal/logs/joblog", []string{"storage"}},
	{"internal/kit/meminfo", nil},
	{"internal/logs/nodelog", []string{"internal/rpc"}},
	{"internal/logs/nodeprofile", []string{"internal/logs/profile", "internal/rpc"}},
	{"internal/daemon/notice", []string{"internal/kit/syncutil", "internal/kit/validate", "internal/kit/pattern"}},
	{"internal/kit/percentile", nil},
	{"internal/logs/profile", []string{"internal/kit/syncutil"}},
	{"internal/rpc/protocol", nil},
	{"internal/kit/syncutil", nil},
	{"internal/task/sealed", []string{"storage"}},
	{"internal/kit/size", nil},
	{"internal/data/taskdir", nil},
	{"internal/kit/validate", nil},
	{"internal/rpc/faultrpc", []string{"internal/kit/failpoint", "internal/rpc", "internal/rpc/wire", "internal/rpc/wire/wireconnect"}},
	{"internal/docs/report", []string{"internal/conf/counter", "internal/rpc/taskproc", "internal/rpc/wire"}},
	{"internal/docs/report/reporttest", []string{"internal/docs/report"}},
	{"internal/client/console", []string{"internal/conf/counter", "internal/docs/report", "internal/kit/size", "internal/rpc/wire"}},
	{"internal/ops/fsshell", []string{
		"storage", "storage/...", "internal/conf", "internal/data/format", "internal/data/format/...", "internal/kit/pattern",
	}},
	{"examples", []string{"mr", "examples/..."}},
	{"examples/...", []string{"mr", "dag", "examples/..."}},
	{"examples/cmd/...", []string{"mr", "examples/..."}},
	{"examples/internal/extest", []string{"mr", "mr/mrtest"}},
	{"internal/ops/scaffold", []string{"internal/kit/pattern"}},
	{"internal/docs/apidoc", []string{"internal/conf/counter", "internal/docs/report", "internal/kit/size", "internal/rpc/wire"}},
	{"internal/daemon", []string{"internal/conf", "internal/kit/failpoint", "internal/rpc/faultrpc", "internal/rpc/httpserver", "internal/kit/jsonfile", "internal/kit/percentile", "internal/rpc", "internal/kit/syncutil"}},
	{"internal/docs", []string{
		"chaos", "cluster", "preempt", "internal/docs/apidoc", "internal/kit/clean", "internal/conf/counter", "internal/conf/hostfile", "internal/logs/profile", "internal/docs/report", "internal/rpc/access", "internal/rpc/wire", "internal/docs/histindex", "internal/docs/history",
	}},
	{"internal/web/analysis", []string{"internal/docs/apidoc"}},
	{"internal/web", []string{
		"cluster", "internal/docs/apidoc", "internal/kit/clean", "internal/conf", "internal/conf/counter", "internal/docs", "internal/web/draw", "internal/conf/hostfile", "internal/kit/percentile",
		"internal/logs/profile", "internal/docs/report", "internal/rpc/access", "chaos", "internal/docs/history", "sched", "sched/registry", "internal/kit/pattern", "internal/web/analysis",
		"internal/web/hadoop", "internal/web/stacks", "internal/kit/size",
	}},
	{"internal/testing/browsertest", nil},
	{"internal/web/stacks", []string{"internal/kit/clean", "internal/kit/pattern"}},
	{"internal/web/hadoop", []string{
		"cluster", "internal/docs/apidoc", "internal/kit/clean", "internal/conf/counter", "internal/docs", "internal/docs/report", "internal/rpc/taskproc", "internal/rpc/access", "internal/rpc/wire",
	}},
	{"internal/source/files", []string{
		"chaos", "cluster", "internal/docs/apidoc", "internal/conf/counter", "internal/docs", "internal/docs/report", "internal/rpc/wire", "jobmaster", "internal/docs/histindex", "internal/docs/history", "storage",
	}},
	{"internal/source/answers", []string{"internal/docs"}},
	{"internal/source/board", []string{
		"cluster", "jobmaster", "internal/docs/board", "internal/docs/history", "preempt", "sched", "internal/docs/apidoc", "internal/conf/counter", "internal/docs/report", "internal/kit/syncutil", "internal/rpc/taskproc", "internal/docs", "internal/source/answers", "internal/rpc/wire",
	}},
	{"internal/daemon/local", []string{
		"cluster", "jobmaster", "internal/docs/apidoc", "internal/daemon", "internal/docs", "internal/logs/profile", "internal/docs/report", "internal/web", "internal/rpc/access", "internal/source/board",
	}},
	{"internal/source/remote", []string{"sched/registry", "internal/docs/apidoc", "internal/docs", "internal/logs/profile", "internal/rpc", "internal/rpc/access", "internal/source/answers"}},
	{"internal/source/leader", []string{
		"storage", "internal/docs/apidoc", "internal/client", "internal/client/remote", "internal/logs/joblog", "internal/logs/nodelog", "internal/logs/nodeprofile", "internal/docs", "internal/logs/profile", "internal/docs/report", "internal/rpc",
		"internal/source/answers", "internal/rpc/wire",
	}},
	{"internal/daemon/masterd", []string{
		"cluster", "jobmaster", "internal/docs/board", "jobmaster/raftlog", "jobmaster/server", "preempt", "sched", "sched/pool", "sched/registry", "shuffle/transfer", "storage",
		"internal/conf", "internal/daemon", "internal/daemon/endnotify", "internal/kit/failpoint", "internal/rpc/faultrpc", "internal/conf/fsconf", "internal/logs/nodeprofile", "internal/kit/owndir", "internal/kit/percentile", "internal/rpc", "internal/kit/syncutil", "internal/kit/validate", "internal/rpc/wire",
		"internal/rpc/audit", "internal/web", "internal/rpc/access", "internal/source/board", "internal/source/files", "internal/web/hadoop", "internal/source/leader", "internal/docs/histindex",
	}},
	{"internal/daemon/tasknoded", []string{
		"cluster", "shuffle/transfer", "storage", "storage/local", "tasknode", "tasknode/...", "internal/docs/apidoc", "internal/rpc/audit", "internal/conf", "internal/daemon",
		"internal/docs", "internal/kit/failpoint", "internal/conf/fsconf", "internal/kit/jsonfile", "internal/kit/meminfo", "internal/logs/nodelog", "internal/logs/nodeprofile", "internal/daemon/notice",
		"internal/kit/procfs", "internal/logs/profile", "internal/rpc", "internal/kit/syncutil", "internal/data/taskdir", "internal/rpc/taskproc", "internal/kit/validate", "internal/web/hadoop",
		"internal/rpc/wire", "internal/kit/owndir",
	}},
	{"internal/ops/doctor", []string{
		"storage", "tasknode/process", "internal/conf", "internal/daemon", "internal/kit/failpoint", "internal/daemon/masterd", "internal/kit/meminfo", "internal/kit/pattern", "internal/kit/percentile",
		"internal/rpc/protocol", "internal/rpc", "internal/daemon/tasknoded", "internal/rpc/wire", "internal/docs/apidoc", "internal/docs",
	}},
	{"internal/ops/launch", []string{"internal/daemon", "internal/kit/owndir", "internal/kit/procfs", "internal/kit/syncutil"}},
	{"internal/ops/localcluster", []string{
		"internal/daemon", "internal/kit/jsonfile", "internal/ops/launch", "internal/ops/netns", "internal/kit/owndir", "internal/kit/procfs", "internal/kit/syncutil",
	}},
	{"internal/ops/testcluster", []string{
		"internal/client/remote", "internal/docs", "internal/rpc/faultrpc", "internal/conf/hostfile", "internal/ops/launch", "internal/ops/localcluster", "internal/kit/procfs", "internal/rpc", "internal/kit/syncutil",
		"internal/rpc/wire",
	}},
	{"internal/conf/hostfile", nil},
	{"internal/ops/sshcluster", []string{
		"internal/docs/apidoc", "internal/client", "internal/docs", "internal/conf/hostfile", "internal/ops/launch", "internal/ops/minihdfs", "internal/rpc", "internal/ops/suspend", "internal/kit/syncutil",
		"internal/kit/validate", "internal/rpc/wire",
	}},
	{"internal/ops/allocation", []string{
		"internal/client", "internal/daemon", "internal/docs", "internal/conf/hostfile", "internal/kit/jsonfile", "internal/ops/launch", "internal/daemon/masterd", "internal/kit/meminfo",
		"internal/kit/owndir", "internal/kit/procfs", "internal/docs/report", "internal/rpc", "internal/ops/suspend", "internal/kit/syncutil", "internal/data/taskdir", "internal/kit/validate",
	}},
	{"internal/ops/suspend", []string{"internal/client", "internal/docs", "internal/kit/syncutil"}},
	{"chaos", []string{"preempt", "internal/kit/failpoint"}},
	{"chaos/guard", []string{"chaos", "internal/kit/procfs", "shuffle"}},
	{"chaos/rig", []string{
		"chaos", "chaos/guard", "internal/kit/syncutil", "internal/rpc/faultrpc", "internal/ops/localcluster", "internal/ops/minihdfs", "internal/ops/netns", "internal/data/taskdir", "internal/ops/testcluster",
	}},
	{"chaos/drill", []string{
		"chaos", "chaos/guard", "chaos/rig", "internal/conf/counter", "internal/docs", "internal/ops/minihdfs", "internal/rpc/taskproc", "internal/ops/testcluster", "internal/rpc/wire", "preempt",
	}},
	{"chaos/simulate", []string{"chaos", "cluster", "preempt", "internal/kit/failpoint", "sched/fifo", "sim", "sim/workload"}},
	{"hammrtest", []string{"chaos/rig", "mr", "internal/ops/testcluster", "internal/rpc/wire", "internal/docs"}},
	{"bench", []string{
		"bench/data", "internal/kit/jsonfile", "internal/ops/localcluster", "internal/ops/minihdfs", "internal/kit/procfs", "internal/ops/testcluster", "internal/kit/validate", "sim/tables",
	}},
	{"bench/data", nil},
	{"bench/paper", []string{"cluster", "internal/web/draw", "locality", "preempt", "sched", "sched/registry", "sim", "sim/...", "internal/kit/percentile"}},
	{"bench/live", []string{
		"internal/client", "bench", "bench/data", "bench/paper", "chaos/rig", "cluster", "internal/kit/jsonfile", "preempt", "internal/docs/history", "internal/client/remote",
		"internal/conf", "internal/conf/hostfile", "internal/conf/counter", "internal/docs", "internal/docs/apidoc", "internal/ops/launch", "internal/ops/localcluster", "internal/ops/minihdfs", "internal/ops/netns", "internal/ops/sshcluster", "internal/kit/percentile",
		"internal/rpc/taskproc", "internal/ops/testcluster", "internal/kit/syncutil", "internal/rpc/wire", "sched", "sched/registry", "sim", "sim/results", "sim/tables", "sim/workload",
		"internal/kit/pattern",
	}},
	{"bench/engines", []string{
		"bench", "bench/data", "bench/live", "bench/streaming", "internal/kit/jsonfile", "internal/kit/pattern", "internal/kit/validate", "internal/ops/minihdfs", "internal/ops/testcluster",
		"internal/web/draw", "sim/results", "sim/tables",
	}},
	{"bench/streaming", []string{"examples/pagerank"}},
	{"bench/suspend", []string{"internal/web/draw", "sim/results", "sim/tables", "internal/kit/procfs"}},
	{"bench/fleet", []string{
		"bench", "chaos/rig", "cluster", "dag", "internal/client", "internal/client/remote", "internal/conf/counter", "internal/docs", "internal/kit/jsonfile", "internal/kit/percentile",
		"internal/kit/procfs", "internal/rpc", "internal/rpc/httpserver", "internal/kit/syncutil", "internal/rpc/taskproc", "internal/ops/testcluster", "internal/kit/validate", "internal/docs/apidoc", "internal/rpc/wire", "sim/tables",
		"storage", "storage/local", "tasknode", "tasknode/masterlink",
	}},
	{"bench/program/...", []string{"bench", "dag", "mr"}},
	{"cli", []string{"..."}},
	{"cmd/...", []string{"cli"}},
	{"deploy/packages/man", []string{"cli"}},

	// Tools for tests. Nothing that ships imports them, except the laboratory; the HDFS of a
	// cluster over ssh is that of internal/ops/minihdfs.
	{"internal/ops/minihdfs", []string{
		"internal/kit/jsonfile", "internal/ops/launch", "internal/ops/netns", "internal/kit/owndir", "internal/kit/procfs", "internal/kit/syncutil", "internal/kit/pattern", "internal/kit/validate",
	}},
	{"internal/ops/minihdfs/...", []string{"internal/ops/minihdfs"}},
	{"internal/ops/sshcluster/sshtest", []string{"internal/kit/procfs", "internal/kit/syncutil"}},
	{"internal/lint", nil},
	{"internal/data", nil},
	{"internal/kit", nil},
	{"internal/logs", nil},
	{"internal/ops", nil},
	{"internal/source", nil},
	{"internal/testing", nil},
	{"internal/testing/inittest", nil},
	{"internal/testing/must", nil},
	{"internal/testing/reachable", nil},
	{"internal/testing/testlevel", nil},
	{"internal/ops/netns", nil},
	{"internal/kit/jsonfile", []string{"internal/kit/owndir"}},
	{"internal/kit/owndir", nil},
	{"internal/kit/procfs", []string{"internal/kit/syncutil"}},
	{"deploy/systemdtest", nil},
	{"e2e", nil},
	{"deploy/test", nil},
	{"e2e/redteam", nil},
	{"e2e/redteam/hostile", []string{"internal/data/taskdir", "internal/rpc/taskproc"}},
	{"e2e/redteam/bystander", []string{"mr"}},
}

// purePackages are the core: the same code runs in the jobmaster, in the
// simulator and in tests, so it gets time, randomness and events as values.
var purePackages = []string{
	"dag", "cluster", "cluster/...", "sched", "sched/...", "preempt", "preempt/...",
	"locality", "locality/...", "control", "control/...", "internal/kit/minheap", "sim/fluid",
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
	{modulePath + "/sched/fifo", []string{"sched/registry", "jobmaster", "internal/client/embedded", "chaos/simulate"}, samePolicyReason},
	{modulePath + "/sched/idle", []string{"jobmaster"}, samePolicyReason},
	{modulePath + "/sched/fair", []string{"sched/registry", "sched/hammr"}, samePolicyReason},
	{modulePath + "/sched/hammr", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/hfsp", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/disco", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sched/chronos", []string{"sched/registry"}, samePolicyReason},
	{modulePath + "/sim/verify", []string{"cli"}, "its policy only watches another one"},
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
	"examples/internal/extest", "internal/testing/inittest", "internal/lint", "internal/testing/reachable", "internal/docs/report/reporttest", "internal/ops/sshcluster/sshtest",
	"internal/testing/must", "internal/testing/testlevel", "internal/testing/browsertest", "mr/mrtest", "sched/schedtest", "storage/hdfs/namenodetest", "storage/storagetest",
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
	{"mr", taskModules, 399},
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
	}, taskModules...), 584},
}

// parts bound the lines of code, and maxTestLines those of tests. They are what there is today; a change that
// needs more raises them.
var parts = []part{
	{"commands", []string{"cli", "cmd/..."}, 8_075},
	{"pages", []string{
		"internal/docs", "internal/docs/apidoc", "internal/docs/board", "internal/docs/history", "internal/docs/histindex", "internal/rpc/access", "internal/source/...",
		"internal/daemon/local", "internal/testing/browsertest", "internal/web", "internal/web/...",
	}, 17_350},
	{"laboratory", []string{
		"bench", "bench/...", "chaos", "chaos/...", "hammrtest", "internal/ops/minihdfs", "internal/ops/minihdfs/...", "internal/ops/netns", "internal/ops/testcluster", "internal/ops/testcluster/...",
		"sim", "sim/...",
	}, 25_345},
	{"rest", []string{"..."}, 94_140},
}

const (
	maxTestLines = 114_300
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
