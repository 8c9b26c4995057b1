package task

import (
	"context"
	"errors"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
)

// Reduce is one attempt of a reduce task: it takes in the segments of its
// partition as maps finish, merges them and hands the groups to the user's
// code.
type Reduce struct {
	*Attempt

	news    chan *taskproc.Outputs // from the tasknode; closed when it hangs up
	sources *transfer.Sources      // shared by the process
	fetched []*taskproc.MapOutput
	intake  *shuffle.Intake
	merge   *shuffle.Merge
	groups  *shuffle.Groups
	total   int64 // records to be reduced, for progress
	done    int64 // groups finished by this attempt
	paused  bool
	save    func() ([]byte, error)
}

// Groups opens the merged stream of the partition: it waits until every map
// has finished and its segment has been taken in. prefix is the length of the
// part of a key that makes its group; nil: all of it.
//
// It returns nil groups and no error when the attempt is paused meanwhile: the
// caller returns nil at once.
func (r *Reduce) Groups(prefix func(key []byte) int) (*shuffle.Groups, error) {
	if err := r.openIntake(prefix); err != nil {
		return nil, err
	}
	r.enterPhase("copy")
	complete, err := r.copyAll()
	if err != nil || !complete {
		return nil, err
	}
	// No map of this job collects any more: its memory is better used for output.
	shuffle.ReleaseMemory()
	r.enterPhase("sort")
	r.merge, err = r.intake.Merge(r.ctx)
	if err != nil {
		return nil, err
	}
	r.groups = r.merge.Groups()
	r.enterPhase("reduce")
	return r.groups, nil
}

func (r *Reduce) openIntake(prefix func(key []byte) int) error {
	opts := shuffle.IntakeOptions{
		FS:                 r.Local,
		Dir:                r.attemptFile("intake"),
		Memory:             int64(r.Conf.Int(conf.SortMB)) << 20,
		InputBufferPercent: r.Conf.Float(conf.ShuffleInputBufferPercent),
		MergePercent:       r.Conf.Float(conf.ShuffleMergePercent),
		MemoryLimitPercent: r.Conf.Float(conf.ShuffleMemoryLimitPercent),
		InMemThreshold:     r.Conf.Int(conf.ReduceInMemThreshold),
		Factor:             r.Conf.Int(conf.SortFactor),
		GroupPrefix:        prefix,
	}
	var err error
	if r.resumed == nil {
		r.intake, err = shuffle.NewIntake(opts)
		return err
	}
	r.fetched = r.resumed.Fetched
	for _, m := range r.resumed.Merge {
		r.total += m.Records
	}
	r.intake, err = shuffle.NewIntakeFromState(opts, intakeState(r.resumed.Merge))
	return err
}

// blame makes an error about a map's output, which is read as late as in the
// final merge, one of that map: it is run again.
func (r *Reduce) blame(err error) error {
	var lost *LostOutputError
	var read *shuffle.ReadError
	if errors.As(err, &lost) || !errors.As(err, &read) {
		return err
	}
	for _, o := range r.fetched {
		if o.Path == read.Path {
			return &LostOutputError{Attempt: o.Attempt, Err: err}
		}
	}
	return err
}

// ordinalOf is where the records of a map's output come from.
func ordinalOf(o *taskproc.MapOutput) shuffle.Ordinal {
	return shuffle.Ordinal{Input: o.Ordinal, Start: positionOf(o.Start)}
}

// Attend does what is waiting between two key groups. It is called by the
// goroutine of the group loop, before it takes the next group, when Signalled
// says so.
func (r *Reduce) Attend() (Action, error) {
	if err := context.Cause(r.ctx); err != nil {
		return Stop, err
	}
	r.Sample()
	if r.signal.pause.Load() {
		r.paused = true
		return Stop, nil
	}
	return Continue, nil
}

// Sample reports progress if it is asked for; it may be called between two
// values of a group.
func (r *Reduce) Sample() {
	if sample, _ := r.signal.take(); !sample {
		return
	}
	if r.total > 0 {
		r.setFraction((2 + float64(r.groups.Records())/float64(r.total)) / 3)
	}
	_ = r.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: r.progress()}})
}

// CountGroup adds one finished group.
func (r *Reduce) CountGroup() { r.done++ }

// OnPause sets what saves the state that the user's code keeps across groups.
func (r *Reduce) OnPause(save func() ([]byte, error)) { r.save = save }

// countMerges counts what the intake wrote.
func (r *Reduce) countMerges() {
	if s := r.intake.Stats(); s.SpilledRecords > 0 {
		r.Counters.Add(counter.SpilledRecords, s.SpilledRecords)
		r.Counters.Add(counter.MergedMapOutputs, s.Merges)
	}
}

// run carries out the attempt and returns its last message.
func (r *Reduce) run(prog Program) (*taskproc.FromTask, error) {
	defer func() {
		if r.groups != nil {
			r.groups.Close()
		}
		if r.intake != nil {
			r.intake.Close()
		}
	}()
	if err := prog.RunReduce(r); err != nil {
		return nil, r.blame(err)
	}
	r.Counters.Add(counter.ReduceInputGroups, r.done)
	if r.groups != nil {
		r.Counters.Add(counter.ReduceInputRecords, r.groups.Records())
	}
	if r.paused {
		return r.checkpoint()
	}
	r.countMerges()
	pieces, _, err := r.outputs.close(false)
	if err != nil {
		return nil, err
	}
	done := &taskproc.Done{Pieces: pieces}
	for _, p := range pieces {
		done.OutputBytes += p.Length
		done.OutputRecords += p.Records
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Done{Done: done}}, nil
}
