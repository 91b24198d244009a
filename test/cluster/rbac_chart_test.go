package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ingressNginx are the service account and the rights that the chart of
// ingress-nginx (4.15) gives: no get and no patch where sluice would like to have
// them, and nothing that sluice needs besides.
func ingressNginx(t testing.TB, own string) []runtime.Object {
	t.Helper()
	const name = "ingress-nginx"
	const networking, discovery, coordination = "networking.k8s.io", "discovery.k8s.io", "coordination.k8s.io"
	everywhere := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: own}, Rules: []rbacv1.PolicyRule{
		Allow("", []string{"configmaps", "endpoints", "nodes", "pods", "secrets", "namespaces"}, "list", "watch"),
		Allow(coordination, []string{"leases"}, "list", "watch"),
		Allow("", []string{"nodes"}, "get"),
		Allow("", []string{"services"}, "get", "list", "watch"),
		Allow(networking, []string{"ingresses"}, "get", "list", "watch"),
		Allow("", []string{"events"}, "create", "patch"),
		Allow(networking, []string{"ingresses/status"}, "update"),
		Allow(networking, []string{"ingressclasses"}, "get", "list", "watch"),
		Allow(discovery, []string{"endpointslices"}, "list", "watch", "get"),
	}}
	lease := Allow(coordination, []string{"leases"}, "get", "update")
	lease.ResourceNames = []string{"ingress-nginx-leader"}
	within := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}, Rules: []rbacv1.PolicyRule{
		Allow("", []string{"namespaces"}, "get"),
		Allow("", []string{"configmaps", "pods", "secrets", "endpoints"}, "get", "list", "watch"),
		Allow("", []string{"services"}, "get", "list", "watch"),
		Allow(networking, []string{"ingresses"}, "get", "list", "watch"),
		Allow(networking, []string{"ingresses/status"}, "update"),
		Allow(networking, []string{"ingressclasses"}, "get", "list", "watch"),
		lease,
		Allow(coordination, []string{"leases"}, "create"),
		Allow("", []string{"events"}, "create", "patch"),
		Allow(discovery, []string{"endpointslices"}, "list", "watch", "get"),
	}}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: own, Name: name}}
	return []runtime.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}},
		everywhere, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: own}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: own},
		},
		within, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	}
}
