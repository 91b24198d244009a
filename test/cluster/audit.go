package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Option changes how Start runs a cluster.
type Option func(*Cluster)

// Audited has the API server write down what service accounts ask for, and
// whether they may: see Asked.
func Audited(c *Cluster) { c.audit = &audit{dir: c.dir} }

// Asked is a request of a service account as the API server has seen it, when it
// was answered or, if it is a watch, began to be.
type Asked struct {
	// Verb is that of RBAC, such as list.
	Verb string
	// Group is the API group, empty for the core group.
	Group string
	// Resource has the subresource with it, such as ingresses/status. It is the
	// path where the request is for no resource.
	Resource        string
	Namespace, Name string
	// Forbidden says that RBAC does not allow it.
	Forbidden bool
	// Status is that of the answer.
	Status int
	// Credential is the id of the token, as JTI=...
	Credential string
}

// ServiceAccount is the user that a service account is to the API server.
func ServiceAccount(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

// Asked gives what a user has asked for so far, in the order of the answers. The
// cluster must be Audited, and the user a ServiceAccount.
func (c *Cluster) Asked(t testing.TB, user string) []Asked {
	t.Helper()
	if c.audit == nil {
		t.Fatal("the cluster writes no audit log: want Start(t, Audited)")
	}
	asked, err := c.audit.of(user)
	if err != nil {
		t.Fatalf("read the audit log: %v", err)
	}
	return asked
}

// audit is the audit log of an API server, as far as it was read.
type audit struct {
	dir string

	mu    sync.Mutex
	read  int64
	users map[string][]Asked
}

func (a *audit) policyFile() string { return filepath.Join(a.dir, "audit-policy.yaml") }
func (a *audit) logFile() string    { return filepath.Join(a.dir, "audit.log") }

// policy has the API server write down who asked for what, and nothing of the
// objects. What the control plane itself asks is left out.
const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// flags are those of the API server. It answers no request before that is
// written down: who has seen an answer finds it in the log.
func (a *audit) flags() ([]string, error) {
	if a == nil {
		return nil, nil
	}
	if err := os.WriteFile(a.policyFile(), []byte(policy), 0o600); err != nil {
		return nil, err
	}
	return []string{"--audit-policy-file=" + a.policyFile(), "--audit-log-path=" + a.logFile(), "--audit-log-mode=blocking"}, nil
}

// of reads what was written since the last call.
func (a *audit) of(user string) ([]Asked, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	file, err := os.Open(a.logFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody has asked for anything
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.NewSectionReader(file, a.read, 1<<40))
	if err != nil {
		return nil, err
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1] // the last line may be half written
	a.read += int64(len(content))
	for line := range bytes.Lines(content) {
		if err := a.take(line); err != nil {
			return nil, err
		}
	}
	return slices.Clone(a.users[user]), nil
}

// credentialKey is by what the API server tells the tokens of a service account apart.
const credentialKey = "authentication.kubernetes.io/credential-id"

// take reads a line: an event of audit.k8s.io/v1.
func (a *audit) take(line []byte) error {
	var event struct {
		Verb, RequestURI string
		User             struct {
			Username string
			Extra    map[string][]string
		}
		ObjectRef      *struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus struct{ Code int }
		Annotations    map[string]string
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return err
	}
	asked := Asked{
		Verb: event.Verb, Resource: event.RequestURI, Status: event.ResponseStatus.Code,
		Forbidden: event.Annotations["authorization.k8s.io/decision"] == "forbid",
	}
	if ids := event.User.Extra[credentialKey]; len(ids) > 0 {
		asked.Credential = ids[0]
	}
	if ref := event.ObjectRef; ref != nil {
		asked.Group, asked.Resource, asked.Namespace, asked.Name = ref.APIGroup, ref.Resource, ref.Namespace, ref.Name
		if ref.Subresource != "" {
			asked.Resource += "/" + ref.Subresource
		}
	}
	if a.users == nil {
		a.users = map[string][]Asked{}
	}
	a.users[event.User.Username] = append(a.users[event.User.Username], asked)
	return nil
}
