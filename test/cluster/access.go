package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig writes a kubeconfig for a user of any name, in any groups, who is
// known by a client certificate and may do nothing but what RBAC says. The group
// system:masters may do everything.
func (c *Cluster) Kubeconfig(t testing.TB, user string, groups ...string) string {
	t.Helper()
	config, err := c.configOf(user, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return c.mustWriteKubeconfig(t, config)
}

// Grant is what a service account may do: in one namespace, or everywhere.
type Grant struct {
	namespace string
	rules     []rbacv1.PolicyRule
}

// Everywhere grants rules in all namespaces, as a ClusterRole.
func Everywhere(rules ...rbacv1.PolicyRule) Grant { return Grant{rules: rules} }

// Within grants rules in one namespace, as a Role.
func Within(namespace string, rules ...rbacv1.PolicyRule) Grant {
	return Grant{namespace: namespace, rules: rules}
}

// Allow is a rule for resources of an API group; "" is the core group.
func Allow(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// Account makes a service account with what is granted to it, and the namespaces
// that this needs. It gives a kubeconfig with a token such as pods have.
func (c *Cluster) Account(t testing.TB, namespace, name string, grants ...Grant) string {
	t.Helper()
	c.Apply(t, Namespace(namespace), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	for i, g := range grants {
		c.grant(t, fmt.Sprintf("%s-%s-%d", namespace, name, i), g, subjects)
	}
	return c.TokenKubeconfig(t, namespace, name)
}

// TokenKubeconfig writes a kubeconfig with a token of a service account, such as
// its pods have.
func (c *Cluster) TokenKubeconfig(t testing.TB, namespace, name string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	answer, err := c.clients.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("a token for the service account %s/%s: %v", namespace, name, err)
	}
	config := c.anonymous()
	config.BearerToken = answer.Status.Token
	return c.mustWriteKubeconfig(t, config)
}

func (c *Cluster) grant(t testing.TB, name string, g Grant, subjects []rbacv1.Subject) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: g.namespace, Name: name}
	if g.namespace == "" {
		c.Apply(t, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: g.rules}, &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		})
		return
	}
	c.Apply(t, Namespace(g.namespace), &rbacv1.Role{ObjectMeta: meta, Rules: g.rules}, &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	})
}

// anonymous is access to the API server for nobody in particular.
func (c *Cluster) anonymous() *rest.Config {
	return &rest.Config{
		Host: "https://" + c.Address + ":6443", TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.pem},
		QPS: -1, // no limit on our side
	}
}

func (c *Cluster) configOf(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.user(user, groups...)
	if err != nil {
		return nil, err
	}
	config := c.anonymous()
	config.CertData, config.KeyData = pair.cert, pair.key
	return config, nil
}

func (c *Cluster) mustWriteKubeconfig(t testing.TB, config *rest.Config) string {
	t.Helper()
	path, err := c.writeKubeconfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *Cluster) writeKubeconfig(config *rest.Config) (string, error) {
	path := filepath.Join(c.dir, fmt.Sprintf("kubeconfig-%d", c.files.Add(1)))
	const name = "test"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o600)
}
