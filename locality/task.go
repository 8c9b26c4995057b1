package locality

// Machine is a machine on which tasks may start.
type Machine struct {
	Name  string
	Hosts []string // further names and addresses that storage may use for it
	Rack  string   // "" if unknown
	Free  int      // slots available for assignment
	Used  int      // occupied slots
}

// Block is a range of input.
type Block struct {
	Hosts []string // hosts that have a replica
	Bytes int64    // 0 counts as 1
}

// Task is the unit of placement: one NodeGroup.
type Task struct {
	Blocks       []Block  // input that it reads; if empty, only the checkpoint makes a machine preferable
	CheckpointOn string   // name of the machine that has its checkpoint; "" for none
	Avoid        []string // names of machines on which it must not start
}

// checkpointBytes returns the assumed size of a task's checkpoint, in bytes, for a given
// input. The real size is unknown; it counts as much as the input.
func (t Task) checkpointBytes(input int64) int64 {
	if t.CheckpointOn == "" {
		return 0
	}
	return max(input, 1)
}

// isIndifferent reports whether every machine that the task does not avoid is equally good.
func (t Task) isIndifferent() bool { return len(t.Blocks) == 0 && t.CheckpointOn == "" }

// Demand is a list of tasks, some of which may start.
type Demand struct {
	Tasks []Task
	Grant int // how many may start, those with the best locality first; len(Tasks) or more means all

	Avoid []string // names of machines on which none of the tasks starts

	// Quota is, by machine, the number of tasks that the machine should run in total, now
	// and later. A task then waits for a machine with its input and remaining quota instead
	// of starting elsewhere, and Grant is ignored. If Quota is nil, no task waits.
	Quota []int
}

// Start is a task that gets a slot. All fields but Level are indexes into the arguments of
// Flow.
type Start struct {
	Demand  int
	Task    int
	Machine int
	Level   Level
}

// weight returns the number of bytes that a block counts for.
func (b Block) weight() int64 { return max(b.Bytes, 1) }
