package hdfs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// Kerberos configures credentials. With a Keytab, Principal logs in; otherwise the ticket
// cache of kinit is used: the file $KRB5CCNAME, else /tmp/krb5cc_UID.
type Kerberos struct {
	// ServicePrincipal is dfs.namenode.kerberos.principal, such as "nn/_HOST@REALM". The
	// part after @ is ignored. Required.
	ServicePrincipal string
	// ConfigFile is krb5.conf. Default $KRB5_CONFIG, else /etc/krb5.conf.
	ConfigFile string
	// Keytab is a key file. It requires Principal, "user@REALM".
	Keytab    string
	Principal string
}

// validate reports missing fields. Otherwise the first connection would fail with a less
// clear error. Files are not opened here; login does that.
func (k *Kerberos) validate() error {
	var errs []error
	if k.ServicePrincipal == "" {
		errs = append(errs, errors.New("hdfs: Kerberos without the NameNode's principal; set dfs.namenode.kerberos.principal"))
	}
	if k.Keytab != "" && !strings.Contains(k.Principal, "@") {
		errs = append(errs, fmt.Errorf("hdfs: Kerberos principal %q is not like user@REALM", k.Principal))
	}
	return errors.Join(errs...)
}

// service returns the principal without its realm, as the module expects it. The module
// replaces _HOST by the name of the NameNode.
func (k *Kerberos) service() string {
	name, _, _ := strings.Cut(k.ServicePrincipal, "@")
	return name
}

// login returns a client with credentials, which it renews until Destroy is called. A ticket
// cache is read once: tickets that kinit renews later have no effect.
func (k *Kerberos) login() (*client.Client, error) {
	file := cmp.Or(k.ConfigFile, os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf")
	conf, err := config.Load(file)
	if err != nil {
		return nil, fmt.Errorf("hdfs: Kerberos configuration %s: %w", file, err)
	}
	if k.Keytab != "" {
		return k.loginKeytab(conf)
	}
	cache := cmp.Or(os.Getenv("KRB5CCNAME"), fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()))
	cache = strings.TrimPrefix(cache, "FILE:")
	tickets, err := credentials.LoadCCache(cache)
	if err != nil {
		return nil, fmt.Errorf("hdfs: Kerberos ticket cache %s; run kinit or set KRB5CCNAME: %w", cache, err)
	}
	c, err := client.NewFromCCache(tickets, conf)
	if err != nil {
		return nil, fmt.Errorf("hdfs: Kerberos ticket cache %s; run kinit: %w", cache, err)
	}
	return c, nil
}

// loginKeytab logs in as the principal. The client renews the ticket in the background until
// Destroy.
func (k *Kerberos) loginKeytab(conf *config.Config) (*client.Client, error) {
	keys, err := keytab.Load(k.Keytab)
	if err != nil {
		return nil, fmt.Errorf("hdfs: Kerberos keytab %s: %w", k.Keytab, err)
	}
	name, realm, _ := strings.Cut(k.Principal, "@")
	c := client.NewWithKeytab(name, realm, keys, conf)
	if err := c.Login(); err != nil {
		return nil, fmt.Errorf("hdfs: Kerberos login of %s with keytab %s: %w", k.Principal, k.Keytab, err)
	}
	return c, nil
}
