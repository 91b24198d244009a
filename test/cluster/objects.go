package cluster

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The objects that most tests need, in their plainest form. They are the usual
// structs: a test changes what it is about, and applies them.

// Namespace is a namespace.
func Namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// NewNamespace makes a namespace whose name begins as given and that nobody else
// has. It is deleted at the end of the test, with all that is in it.
func (c *Cluster) NewNamespace(t testing.TB, prefix string) string {
	t.Helper()
	namespaces := c.clients.CoreV1().Namespaces()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	created, err := namespaces.Create(context.Background(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make a namespace %s-...: %v", prefix, err)
	}
	t.Cleanup(func() { // a test that ends without the API server keeps it
		_ = namespaces.Delete(context.Background(), created.Name, metav1.DeleteOptions{})
	})
	return created.Name
}

// PodPort is the port that the pods of Deployment listen on.
const PodPort = 8080

// Deployment makes pods that answer HTTP on PodPort, labelled app=<name>.
func Deployment(namespace, name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "echo", Image: "echo", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: PodPort}},
				}}},
			},
		},
	}
}

// Service is the Service of port 80 for the Deployment of the same name.
func Service(namespace, name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(PodPort)}},
		},
	}
}

// IngressClass is a class that Sluice serves by default.
func IngressClass(name string) *networkingv1.IngressClass {
	return &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"},
	}
}

// Ingress is an Ingress of the class nginx.
func Ingress(namespace, name string, rules ...networkingv1.IngressRule) *networkingv1.Ingress {
	class := "nginx"
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       networkingv1.IngressSpec{IngressClassName: &class, Rules: rules},
	}
}

// Rule sends a host's requests below a path to a port of a Service.
func Rule(host, path, service string, port int32) networkingv1.IngressRule {
	prefix := networkingv1.PathTypePrefix
	return networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
		Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: &prefix, Backend: networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: port}},
		}}},
	}}}
}

// Web is a Deployment and its Service, in a namespace that is made if need be.
func Web(namespace, name string, replicas int32) []runtime.Object {
	return []runtime.Object{Namespace(namespace), Deployment(namespace, name, replicas), Service(namespace, name)}
}

// TLSSecret is a Secret with a certificate for hosts that the cluster's
// authority has signed; Roots of a Request trusts it.
func (c *Cluster) TLSSecret(t testing.TB, namespace, name string, hosts ...string) *corev1.Secret {
	t.Helper()
	pair, err := c.authority.serving(hosts)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: pair.cert, corev1.TLSPrivateKeyKey: pair.key},
	}
}
