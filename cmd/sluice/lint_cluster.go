package main

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/kube"
	"sluice/internal/lint"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// inspection reads the objects of a cluster once.
type inspection struct {
	client *kube.Client
	err    error // the first error
}

// fromCluster reads the objects that lint checks. It reads the names of Secrets, if it may
// list them, and never their content.
func (f *lintFlags) fromCluster(ctx context.Context) (input, error) {
	o, err := f.options()
	if err != nil {
		return input{}, usage(err)
	}
	client, err := kube.ConnectAsUser(f.kubeconfig, f.context, "sluice-lint/"+version)
	if err != nil {
		return input{}, err
	}
	in := &inspection{client: client}
	objects := snapshot.Objects{
		Ingresses:      read[*networkingv1.Ingress](ctx, in, listing{kube.Ingresses, "", &networkingv1.IngressList{}}),
		IngressClasses: read[*networkingv1.IngressClass](ctx, in, listing{kube.IngressClasses, "", &networkingv1.IngressClassList{}}),
		Services:       read[*corev1.Service](ctx, in, listing{kube.Services, "", &corev1.ServiceList{}}),
		EndpointSlices: read[*discoveryv1.EndpointSlice](ctx, in, listing{kube.EndpointSlices, "", &discoveryv1.EndpointSliceList{}}),
	}
	if f.namespaceSelector != "" {
		objects.Namespaces = read[*corev1.Namespace](ctx, in, listing{kube.Namespaces, "", &corev1.NamespaceList{}})
	}
	for _, name := range slices.Concat(lint.Conventional(), translate.ConfigMaps(objects.IngressClasses, o), configMapsOf(objects.Ingresses, o)) {
		objects.ConfigMaps = append(objects.ConfigMaps, in.configMaps(ctx, name)...)
	}
	for _, name := range headersOfSettings(objects.ConfigMaps, o) {
		objects.ConfigMaps = append(objects.ConfigMaps, in.configMaps(ctx, name)...)
	}
	if f.secretThere == nil {
		f.secretThere = in.secretNames(ctx)
	}
	if in.err != nil {
		return input{}, kube.Unreached(client.Host(), in.err)
	}
	all := input{Loaded: snapshot.Loaded{Objects: objects}}
	return all, f.decide(&all)
}

// configMapsOf returns the ConfigMaps that Ingresses refer to, without duplicates.
func configMapsOf(ingresses []*networkingv1.Ingress, o translate.Options) []snapshot.Name {
	var names []snapshot.Name
	for _, ing := range ingresses {
		for _, ref := range translate.References(ing, o) {
			if name := (snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}); ref.Kind == "ConfigMap" {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, snapshot.Name.Compare)
	return slices.Compact(names)
}

// headersOfSettings returns the ConfigMaps with headers that the settings among some ConfigMaps
// refer to, without those that are among them.
func headersOfSettings(all []*corev1.ConfigMap, o translate.Options) []snapshot.Name {
	settings := lint.Conventional()
	if o.ConfigMap != (snapshot.Name{}) {
		settings = []snapshot.Name{o.ConfigMap}
	}
	has := func(names []snapshot.Name, of snapshot.Name) bool {
		return slices.ContainsFunc(names, func(name snapshot.Name) bool {
			return name.Name == of.Name && (name.Namespace == "" || name.Namespace == of.Namespace)
		})
	}
	var known, named []snapshot.Name
	for _, one := range all {
		known = append(known, snapshot.NameOf(one))
		if has(settings, snapshot.NameOf(one)) {
			named = append(named, translate.HeaderConfigMaps(one)...)
		}
	}
	slices.SortFunc(named, snapshot.Name.Compare)
	return slices.DeleteFunc(slices.Compact(named), func(name snapshot.Name) bool { return has(known, name) })
}

// listing is a request for a list of objects, all or those with a name.
type listing struct {
	resource kube.Resource
	name     string
	list     runtime.Object
}

// read reads all objects of a listing, in pages.
func read[P runtime.Object](ctx context.Context, in *inspection, l listing) (all []P) {
	if in.err != nil {
		return nil
	}
	options := metav1.ListOptions{}
	if l.name != "" {
		options.FieldSelector = kube.ByName(l.name)
	}
	err := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		page := l.list.DeepCopyObject()
		return page, in.client.List(ctx, l.resource, "", o, page)
	}).EachListItem(ctx, options, func(o runtime.Object) error {
		all = append(all, o.(P))
		return nil
	})
	if err != nil {
		in.err = fmt.Errorf("list %s: %w", l.resource.Plural, err)
	}
	return all
}

// configMaps reads the ConfigMaps with a name, in all namespaces if it has none.
func (in *inspection) configMaps(ctx context.Context, name snapshot.Name) []*corev1.ConfigMap {
	if name.Namespace != "" {
		o := &corev1.ConfigMap{}
		err := in.client.Get(ctx, kube.ConfigMaps, name, o)
		if apierrors.IsNotFound(err) || in.err != nil {
			return nil
		}
		in.err = err
		return []*corev1.ConfigMap{o}
	}
	return read[*corev1.ConfigMap](ctx, in, listing{kube.ConfigMaps, name.Name, &corev1.ConfigMapList{}})
}

// secretNames returns a function that reports whether a Secret exists, by its metadata. If
// the user may not list Secrets, all count as existing.
func (in *inspection) secretNames(ctx context.Context) func(snapshot.Name) bool {
	listed, err := in.client.MetadataListWatch(kube.Secrets, kube.Selection{}).ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return func(snapshot.Name) bool { return true }
	}
	there := map[snapshot.Name]bool{}
	_ = meta.EachListItem(listed, func(o runtime.Object) error {
		if m, err := meta.Accessor(o); err == nil {
			there[snapshot.Name{Namespace: m.GetNamespace(), Name: m.GetName()}] = true
		}
		return nil
	})
	return func(name snapshot.Name) bool { return there[name] }
}
