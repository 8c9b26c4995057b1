//go:build deploy

package deploytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// makeCertificates makes an authority, the certificate of the API server, and one with a kubeconfig
// for each of its clients, all in a directory.
func makeCertificates(t *testing.T, dir, api string) {
	t.Helper()
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caKey := makeCertificate(t, filepath.Join(dir, "ca"), ca, ca, nil)
	makeCertificate(t, filepath.Join(dir, "server"), &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	}, ca, caKey)
	for _, user := range []struct{ name, group string }{
		{"admin", "system:masters"}, {"system:kube-controller-manager", ""}, {"system:kube-scheduler", ""},
	} {
		subject := pkix.Name{CommonName: user.name}
		if user.group != "" {
			subject.Organization = []string{user.group}
		}
		makeCertificate(t, filepath.Join(dir, user.name), &x509.Certificate{
			Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		}, ca, caKey)
		config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: test\n"+
			"clusters: [{name: test, cluster: {server: %q, certificate-authority: ca.crt}}]\n"+
			"users: [{name: test, user: {client-certificate: %q, client-key: %q}}]\n"+
			"contexts: [{name: test, context: {cluster: test, user: test}}]\n", api, user.name+".crt", user.name+".key")
		must.Do(t, os.WriteFile(filepath.Join(dir, user.name+".conf"), []byte(config), 0o600))
	}
}

// makeCertificate completes a certificate, signs it, and writes it and its key to path.crt and
// path.key. Without a key of the authority it is signed by its own.
func makeCertificate(t *testing.T, path string, cert, authority *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	if signer == nil {
		signer = key
	}
	cert.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	must.Do(t, err)
	cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, cert, authority, &key.PublicKey, signer)
	must.Do(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	must.Do(t, err)
	must.Do(t, os.WriteFile(path+".crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must.Do(t, os.WriteFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	return key
}
