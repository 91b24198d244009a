package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// read returns a Secret, nil if there is none. It lists by name, which costs the API
// server no more than a get. The metadata needs the permission list anyway, and
// ingress-nginx's ClusterRole grants no other.
func (r *readSecrets) read(ctx context.Context, name snapshot.Name) (*corev1.Secret, error) {
	var list corev1.SecretList
	one := metav1.ListOptions{FieldSelector: kube.ByName(name.Name)}
	if err := r.source.o.Client.List(ctx, kube.Secrets, name.Namespace, one, &list); err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

// many is the number of Secrets from which on certificates are read by pages.
const many = 100

// readPages reads many Secrets in a few requests: it reads all Secrets with
// certificates and keeps the wanted ones. It returns the names that remain.
func (r *readSecrets) readPages(ctx context.Context, wanted []snapshot.Name) []snapshot.Name {
	left := make(map[snapshot.Name]bool, len(wanted))
	for _, name := range wanted {
		left[name] = true
	}
	page := metav1.ListOptions{Limit: 500, FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeTLS)).String()}
	for {
		var list corev1.SecretList
		if err := r.source.o.Client.List(ctx, kube.Secrets, r.source.o.Namespace, page, &list); err != nil {
			break // the rest are read one by one, and report their errors
		}
		for _, secret := range pointers(list.Items) {
			if name := snapshot.NameOf(secret); left[name] {
				delete(left, name)
				r.hold(name, secret)
				r.source.troubles.set("Secret "+name.String(), nil)
			}
		}
		if page.Continue = list.Continue; page.Continue == "" {
			break
		}
	}
	return slices.DeleteFunc(wanted, func(name snapshot.Name) bool { return !left[name] })
}
