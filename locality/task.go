package locality

// Machine is where tasks run.
type Machine struct {
	Name  string
	Hosts []string // further names and addresses under which storage may know it
	Rack  string   // "" when it has not told
	Free  int      // slots that may be given out
	Used  int      // slots that are held
}

// Block is a piece of input.
type Block struct {
	Hosts []string // that hold it
	Bytes int64    // 0 counts as 1
}

// Task is what is placed: one NodeGroup.
type Task struct {
	Blocks       []Block  // what it reads; none makes every machine as good, but for Home
	CheckpointOn string   // name of the machine that has what the task has done so far; "" for none
	Avoid        []string // names of machines where it does not start
}

// checkpointBytes is what a task has on its Home, in bytes, if it reads so many in all. How much
// it is nobody knows: it counts as much as that.
func (t Task) checkpointBytes(input int64) int64 {
	if t.CheckpointOn == "" {
		return 0
	}
	return max(input, 1)
}

// isIndifferent reports whether a task is as well off on each machine that it does not
// avoid.
func (t Task) isIndifferent() bool { return len(t.Blocks) == 0 && t.CheckpointOn == "" }

// Demand is tasks of which some may start.
type Demand struct {
	Tasks []Task
	Grant int // how many start, of whichever tasks are best off; at least len(Tasks) is all of them

	Avoid []string // names of machines where none of the tasks starts

	// Quota says, by machine, how many of the tasks it should run in all, now
	// and later. A task then waits for a machine that has its input and quota
	// for it rather than start elsewhere, and Grant is not looked at. nil
	// makes no task wait.
	Quota []int
}

// Start is a task that has got a slot. All fields but Level are indexes into
// the arguments of Flow.
type Start struct {
	Demand  int
	Task    int
	Machine int
	Level   Level
}

// weight is the bytes of a block as they count.
func (b Block) weight() int64 { return max(b.Bytes, 1) }
