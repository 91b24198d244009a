package cluster

import (
	"os"
	"path/filepath"
)

// Whole has the control plane of a real cluster: the default admission plugins,
// the authorization of nodes, and all controllers. There are no stand-ins for
// nodes: the package real starts real ones.
func Whole(c *Cluster) { c.whole = true }

// Dir is a folder for files, which goes with the cluster.
func (c *Cluster) Dir() string { return c.dir }

// AuthorityFile is the path of the certificate of the cluster's authority.
func (c *Cluster) AuthorityFile() string { return c.authority.file }

// ServingFiles write a certificate for names and addresses, and its key.
func (c *Cluster) ServingFiles(name string, names []string, addresses ...string) (certificate, key string, err error) {
	pair, err := c.authority.serving(names, addresses...)
	if err != nil {
		return "", "", err
	}
	certificate, key = filepath.Join(c.dir, name+".crt"), filepath.Join(c.dir, name+".key")
	if err := os.WriteFile(certificate, pair.cert, 0o644); err != nil {
		return "", "", err
	}
	return certificate, key, os.WriteFile(key, pair.key, 0o600)
}
