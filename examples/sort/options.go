package sort

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hammr/hammr/mr"
)

// options are the arguments of Hadoop's sort, as far as they make sense for
// lines of text.
type options struct {
	reduces string // "" when not given
	in      []string
	out     string
}

func parseOptions(args []string) (o options, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args, err = o.take(args[0], args[1:]); err != nil {
			return o, fmt.Errorf("%w: option %w", mr.ErrUsage, err)
		}
	}
	if len(args) < 2 {
		return o, mr.ErrUsage
	}
	last := len(args) - 1
	o.in, o.out = args[:last], args[last]
	return o, nil
}

// take takes one option and its values and returns what follows. -totalOrder is accepted for
// compatibility: the order is always total, and the engine chooses its samples itself.
func (o *options) take(option string, values []string) (rest []string, err error) {
	switch option {
	case "-r":
		if err := numbers(option, values, 1); err != nil {
			return nil, err
		}
		o.reduces = values[0]
		return values[1:], nil
	case "-totalOrder":
		return totalOrder(option, values)
	case "-inFormat", "-outFormat", "-outKey", "-outValue":
		return nil, fmt.Errorf("%s: only lines of text are sorted here", option)
	}
	return nil, fmt.Errorf("%s: not known", option)
}

// totalOrder takes the share of keys, the number of samples and the number of
// splits that Hadoop's sampler works with.
func totalOrder(option string, values []string) (rest []string, err error) {
	if len(values) < 3 {
		return nil, fmt.Errorf("%s: three numbers are expected", option)
	}
	if share, err := strconv.ParseFloat(values[0], 64); err != nil || !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("%s: %q is not a share from 0 to 1", option, values[0])
	}
	return values[3:], numbers(option, values[1:], 2)
}

// numbers checks that values begin with n whole numbers of at least 1.
func numbers(option string, values []string, n int) error {
	if len(values) < n {
		return fmt.Errorf("%s: a number is missing", option)
	}
	for _, v := range values[:n] {
		if i, err := strconv.ParseInt(v, 10, 32); err != nil || i < 1 {
			return fmt.Errorf("%s: %q is not a whole number of at least 1", option, v)
		}
	}
	return nil
}
