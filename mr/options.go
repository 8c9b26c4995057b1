package mr

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc"
)

// options are the parsed options and arguments of a command line.
//
//	wordcount -D a=b -files f  --quiet   in  out   --  --odd-name
//	          generic options  anywhere  arguments     arguments, too
type options struct {
	define  []string // -D, in order: property=value
	conf    []string // -conf
	fs      string   // -fs
	files   string   // -files
	report  string   // file for the JSON report; "" for none
	quiet   bool
	workers int // 0: as many as cores
	cluster clusterOptions
	ui      string // address of the pages of the embedded engine; "" for none
	show    *show  // nil: the program runs
	help    bool
	args    []string // the program's own arguments
}

// parseArgs reads a command line as Hadoop does: generic options come first and end at the
// first argument that is not a generic option. The rest are the program's arguments. Options
// that begin with "--" may stand anywhere before an argument "--". own are the program's own
// options. Any other option with "--" is refused: read as a path, it would fail later, or
// create a file of that name.
func parseArgs(args, own []string) (*options, error) {
	o := new(options)
	args, behind, err := o.takeLong(args, own)
	if err != nil {
		return nil, err
	}
	for len(args) > 0 {
		rest, err := o.takeGeneric(args)
		if err != nil {
			return nil, err
		}
		if len(rest) == len(args) {
			break
		}
		args = rest
	}
	if i := slices.IndexFunc(args, isGeneric); i >= 0 {
		return nil, fmt.Errorf("option %s behind the argument %s: generic options come before the arguments; an argument that begins with - goes after an argument --", args[i], args[i-1])
	}
	o.args = append(args, behind...)
	return o, nil
}

// isGeneric reports whether an argument is a generic option that no program takes for its own.
// Hadoop takes it for an argument there, so that a property would be the name of the output.
func isGeneric(arg string) bool {
	definition, isDefine := strings.CutPrefix(arg, "-D")
	return isDefine && (definition == "" || strings.Contains(definition, "=")) || slices.Contains([]string{"-conf", "-fs", "-files"}, arg)
}

// takeLong takes the long options out of args. It returns the arguments before "--" and the
// arguments behind it. Options of the program itself stay among the arguments.
func (o *options) takeLong(args, own []string) (rest, behind []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		switch name {
		case "--":
			return rest, args[i+1:], nil
		case "--quiet":
			o.quiet = true
		case "--detach":
			o.cluster.detach = true
		case "--dag":
			if o.show, err = parseShow(value); err != nil {
				return nil, nil, err
			}
		case "--explain":
			o.show = &show{explain: true}
		case "--ui":
			o.ui = cmp.Or(value, "127.0.0.1:0")
		case "--help", "-h":
			o.help = true
		case "--report", "--workers", "--master", "--token-file", "--pool":
			if !hasValue {
				if i++; i == len(args) {
					return nil, nil, fmt.Errorf("option %s: a value is missing", name)
				}
				value = args[i]
			}
			if err := o.setLong(name, value); err != nil {
				return nil, nil, err
			}
		default:
			if strings.HasPrefix(name, "--") && !slices.Contains(own, name) {
				return nil, nil, fmt.Errorf("option %s: unknown; -h lists the options, and an argument that begins with -- goes after an argument --", name)
			}
			rest = append(rest, args[i])
		}
	}
	return rest, nil, nil
}

// setLong sets a long option that has a value. --pool is short for a property; the generic
// options come later and override it.
func (o *options) setLong(name, value string) error {
	switch name {
	case "--report":
		o.report = value
		return nil
	case "--master":
		o.cluster.masters = value
		return nil
	case "--token-file":
		o.cluster.tokenFile = value
		return nil
	case "--pool":
		o.define = append(o.define, conf.JobQueue+"="+value)
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return fmt.Errorf("option --workers: %q is not a number of at least 1", value)
	}
	o.workers = n
	return nil
}

// takeGeneric takes one generic option off the front of args. It returns args unchanged if
// they do not begin with a generic option. Options of Hadoop that concern JARs are refused
// with the reason.
func (o *options) takeGeneric(args []string) (rest []string, err error) {
	name := args[0]
	if strings.HasPrefix(name, "-D") && len(name) > 2 {
		return args[1:], o.addDefine(name[2:])
	}
	switch name {
	case "-D", "-conf", "-fs", "-files":
	case "-libjars", "-archives", "-jt":
		return nil, fmt.Errorf("option %s: not known here; programs are Go binaries, and -files takes side files", name)
	default:
		return args, nil
	}
	if len(args) < 2 {
		return nil, fmt.Errorf("option %s: a value is missing", name)
	}
	value := args[1]
	switch name {
	case "-D":
		err = o.addDefine(value)
	case "-conf":
		o.conf = append(o.conf, value)
	case "-fs":
		o.fs = value
	case "-files":
		o.files = value
	}
	return args[2:], err
}

// addDefine adds a -D. Several for one property are allowed; the last one wins.
func (o *options) addDefine(definition string) error {
	if name, _, found := strings.Cut(definition, "="); !found || name == "" {
		return fmt.Errorf("option -D %s: write it as property=value", definition)
	}
	o.define = append(o.define, definition)
	return nil
}

// configuration reads the files of HADOOP_CONF_DIR, then -conf, then -D, as
// GenericOptionsParser does; later ones override earlier ones, except for properties that a
// file declares final. Warnings go to the console. Errors wrap ErrUsage.
func (o *options) configuration(show *console.Console) (*conf.Conf, error) {
	c, warnings, err := conf.Load(conf.Sources{Files: o.conf, Define: o.define})
	for _, w := range warnings {
		show.Log(console.Warn, console.ClassDeprecation, w)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for name, value := range map[string]string{conf.DefaultFS: o.fs, conf.Files: o.files} {
		if value == "" {
			continue
		}
		if _, err := c.Set(name, value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return c, nil
}

// printUsage prints the usage line, with which the output of a wrong call ends.
func printUsage(w io.Writer, p *Program) {
	fmt.Fprintf(w, "Usage: %s %s\n", p.Name, p.usage())
}

// printHelp prints the help text of -h.
func printHelp(w io.Writer, p *Program) {
	printUsage(w, p)
	if p.Summary != "" {
		fmt.Fprintf(w, "\n%s\n", p.Summary)
	}
	fmt.Fprint(w, genericHelp)
}

const genericHelp = `
Generic options, before the program's own arguments:
  -D property=value   set a property (may be repeated)
  -conf FILE          read properties from a Hadoop XML file
  -fs URI             default file system, as hdfs://host:port or file:///
  -files F[,F...]     side files that tasks can open by their last name, or by NAME in F#NAME

Options anywhere before "--":
  --report FILE       write a JSON report of the job
  --quiet             print errors only
  --workers N         run N map and N reduce tasks at once (default: as many as cores)
  --master A[,B...]   run on the cluster of these masters (default: HAMMR_MASTER, else in this process: "local")
  --token-file FILE   the cluster's token (default: HAMMR_TOKEN_FILE, else the copy that 'hammr up' has saved)
  --pool NAME         put the job into this pool, or queue, of the cluster
  --detach            print the job's id once the cluster has it, and exit
  --ui[=HOST:PORT]    serve web pages while the jobs run in this process ('hammr run' only)
  --dag[=dot]         run nothing, but show the graph of each job; with arguments, of the first job as it would run
  --explain           run nothing, but show how many tasks the first job would have, and why
  -h, --help          show this text
`

// clusterOptions are the options that choose a cluster and say how to use it.
type clusterOptions struct {
	masters   string // "": HAMMR_MASTER; "local": the embedded engine
	tokenFile string // "": the usual places
	detach    bool
}

// list returns the masters as the user gave them: by the option, else by the environment; ""
// for none.
func (o *clusterOptions) list() string {
	if o.masters != "" {
		return o.masters
	}
	return os.Getenv(rpc.MasterVariable)
}

// remote reports whether jobs run on a cluster.
func (o *clusterOptions) remote() bool {
	list := o.list()
	return list != "" && list != "local"
}

// check refuses options that exclude each other. workers is 0 if the option is not given.
func (o *clusterOptions) check(workers int, ui string) error {
	switch {
	case o.remote() && ui != "":
		return fmt.Errorf("%w: --ui with --master: the masters serve the pages of their jobs; see 'hammr ui'", ErrUsage)
	case !o.remote() && o.detach:
		return fmt.Errorf("%w: --detach without --master: the engine of this process ends with it", ErrUsage)
	case o.remote() && workers != 0:
		return fmt.Errorf("%w: --workers with --master: the slots of the cluster decide how many tasks run", ErrUsage)
	case o.remote():
		if _, err := rpc.ParseMasters(o.list()); err != nil {
			return fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	return nil
}
