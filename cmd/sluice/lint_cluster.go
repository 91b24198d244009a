package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
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

// userCluster are the flags of the commands that read the objects of a cluster with the
// user's kubeconfig in place of manifests.
type userCluster struct {
	cluster    bool
	kubeconfig string
	context    string
	// secretThere is that of lint.Options.
	secretThere func(snapshot.Name) bool
}

func (f *userCluster) add(flags *pflag.FlagSet, does string) {
	flags.BoolVar(&f.cluster, "from-cluster", false, does+" the objects of a cluster instead, with your kubeconfig; it never reads the content of Secrets")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of that cluster; if empty, $KUBECONFIG or ~/.kube/config")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; if empty, the current one")
}

// validate rejects flags of a cluster without one.
func (f *userCluster) validate() error {
	if !f.cluster && f.kubeconfig+f.context != "" {
		return errors.New("--kubeconfig and --context: want --from-cluster, too")
	}
	return nil
}

// load reads the objects of the cluster or, without one, the manifests.
func (f *userCluster) load(ctx context.Context, flags *inputFlags) (input, error) {
	if !f.cluster {
		return flags.load(ctx)
	}
	return f.objects(ctx, flags)
}

// objects reads the objects of the cluster, as load reads manifests.
func (f *userCluster) objects(ctx context.Context, flags *inputFlags) (input, error) {
	client, err := kube.ConnectAsUser(f.kubeconfig, f.context, "sluice/"+version)
	if err != nil {
		return input{}, err
	}
	all, err := f.readCluster(ctx, client, flags)
	if err != nil {
		return input{}, err
	}
	return all, flags.decide(&all)
}

// readCluster reads the objects of a cluster. It reads the names of Secrets, if it may list
// them, and never their content.
func (f *userCluster) readCluster(ctx context.Context, client *kube.Client, flags *inputFlags) (input, error) {
	o, err := flags.options()
	if err != nil {
		return input{}, usage(err)
	}
	in := &inspection{client: client}
	objects := snapshot.Objects{
		Ingresses:      read[*networkingv1.Ingress](ctx, in, listing{kube.Ingresses, "", &networkingv1.IngressList{}}),
		IngressClasses: read[*networkingv1.IngressClass](ctx, in, listing{kube.IngressClasses, "", &networkingv1.IngressClassList{}}),
		Services:       read[*corev1.Service](ctx, in, listing{kube.Services, "", &corev1.ServiceList{}}),
		EndpointSlices: read[*discoveryv1.EndpointSlice](ctx, in, listing{kube.EndpointSlices, "", &discoveryv1.EndpointSliceList{}}),
	}
	if flags.namespace == "" {
		objects.Namespaces = read[*corev1.Namespace](ctx, in, listing{kube.Namespaces, "", &corev1.NamespaceList{}})
		if apierrors.IsForbidden(in.err) && flags.namespaceSelector == "" {
			in.err = nil // as with a controller that may not read them
		}
	}
	for _, name := range append(lint.Conventional(), translate.ConfigMaps(objects.IngressClasses, o)...) {
		objects.ConfigMaps = append(objects.ConfigMaps, in.configMaps(ctx, name)...)
	}
	for _, name := range configMapsOf(objects, o) {
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
	return input{Loaded: snapshot.Loaded{Objects: objects}}, nil
}

// configMapsOf returns the ConfigMaps that Ingresses refer to, without duplicates.
func configMapsOf(objects snapshot.Objects, o translate.Options) []snapshot.Name {
	var names []snapshot.Name
	snap, _ := snapshot.New(objects)
	of := translate.Settings(snap, o)
	for _, ing := range objects.Ingresses {
		for _, ref := range translate.References(ing, of(ing), o) {
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
