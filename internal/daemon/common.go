package daemon

import (
	"log/slog"

	"github.com/hammr/hammr/internal/conf"
)

// Common is the part of a configuration that all daemons have. A comment says what the usage of the
// setting does not.
type Common struct {
	Dir       string // belongs to one daemon alone
	TokenFile string
	ClusterID string
	Masters   []string
	Address   string // host:port
	HTTP      string // host:port of the page
	Advertise string // host:port at which others reach Address
	// PageHosts are names by which HTTP is reached, besides localhost, IP addresses, and the names of the
	// machine, Advertise and HTTP.
	PageHosts []string
	// MaxConnections bounds the open connections of Address. At most half of the files that
	// the process may open are used for them.
	MaxConnections int
	// MaxConnectionsPerAddress bounds the connections of Address from one source; see httpserver.SourceOf.
	MaxConnectionsPerAddress int
	Drills                   bool
	Profiles                 bool // shows Go's profiles on the page
	ReadyFile                string
	Log                      LogConfig

	// Notifier informs the service manager. Default none.
	Notifier *Notifier
	// Conf is the site's configuration. Default conf.New().
	Conf *conf.Conf
	// Logger takes the daemon's log. Default none.
	Logger *slog.Logger
}

// Config is the configuration of a daemon.
type Config interface {
	// Settings lists the settings, which are stored in the receiver.
	Settings() Settings
	// Validate reports every error of the configuration at once.
	Validate() error
	// Base returns the part that all daemons have.
	Base() *Common
}

// Load sets all settings of a configuration, and checks them.
func Load(c Config, from Sources) error {
	if err := c.Settings().Load(from); err != nil {
		return err
	}
	return c.Validate()
}

// Base implements Config for the configurations that embed Common.
func (c *Common) Base() *Common { return c }

// Settings lists the settings that all daemons describe in the same words. perAddress is the default
// of MaxConnectionsPerAddress.
func (c *Common) Settings(perAddress int) Settings {
	return append(Settings{
		String("token-file", &c.TokenFile, "", "`file` with the cluster's secret").Required(),
		Int("max-connections", &c.MaxConnections, 16384, 1, "`number` of connections that --address accepts at once, at most half of the process's limit of open files").Reloadable(),
		Int("max-connections-per-address", &c.MaxConnectionsPerAddress, perAddress, 1, "`number` of these from one source, such as an IP address; raise it if many machines share one").Reloadable(),
		Bool("pprof", &c.Profiles, "serve Go's profiles at /debug/pprof/ of --http, for holders of the token"),
	}, c.Log.Settings()...)
}

// Limits returns the limits of connections to Address.
func (c *Common) Limits() Limits {
	return Limits{Total: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress, Remedy: "--max-connections-per-address", Logger: c.Logger}
}
