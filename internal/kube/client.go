// Package kube is a client of the Kubernetes API server for the few kinds of object
// that an ingress controller needs.
//
// It takes a kubeconfig, or the service account of the pod. It offers objects as
// protobuf, lists and watches for client-go's reflectors, and a few writes.
// client-go's typed clientset would do the same, but registers every kind of
// Kubernetes, which costs each process 8 MB (see
// docs/decisions/0007-small-client.md).
//
//	client, err := kube.Connect(kube.Options{Kubeconfig: path})
//	service := &corev1.Service{}
//	err = client.Get(ctx, kube.Services, snapshot.Name{Namespace: "shop", Name: "web"}, service)
package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"sluice/internal/snapshot"
)

// Resource is a kind of object as in the paths of the API server.
type Resource struct {
	Version schema.GroupVersion
	// Plural is the name in paths, such as "ingresses".
	Plural string
}

// The resources that Sluice reads or writes.
var (
	Ingresses      = Resource{networkingv1.SchemeGroupVersion, "ingresses"}
	IngressClasses = Resource{networkingv1.SchemeGroupVersion, "ingressclasses"}
	Services       = Resource{corev1.SchemeGroupVersion, "services"}
	EndpointSlices = Resource{discoveryv1.SchemeGroupVersion, "endpointslices"}
	Secrets        = Resource{corev1.SchemeGroupVersion, "secrets"}
	ConfigMaps     = Resource{corev1.SchemeGroupVersion, "configmaps"}
	Namespaces     = Resource{corev1.SchemeGroupVersion, "namespaces"}
	Nodes          = Resource{corev1.SchemeGroupVersion, "nodes"}
	Pods           = Resource{corev1.SchemeGroupVersion, "pods"}
	Events         = Resource{corev1.SchemeGroupVersion, "events"}
	Leases         = Resource{coordinationv1.SchemeGroupVersion, "leases"}

	ValidatingWebhookConfigurations = Resource{admissionregistrationv1.SchemeGroupVersion, "validatingwebhookconfigurations"}
)

// groups are the API groups of these resources, with what registers their kinds.
var groups = map[schema.GroupVersion]func(*runtime.Scheme) error{
	corev1.SchemeGroupVersion:                  corev1.AddToScheme,
	networkingv1.SchemeGroupVersion:            networkingv1.AddToScheme,
	discoveryv1.SchemeGroupVersion:             discoveryv1.AddToScheme,
	coordinationv1.SchemeGroupVersion:          coordinationv1.AddToScheme,
	admissionregistrationv1.SchemeGroupVersion: admissionregistrationv1.AddToScheme,
}

// Client is a connection to one API server. Use Connect. Its methods are safe for
// concurrent use.
type Client struct {
	host   string
	groups map[schema.GroupVersion]*rest.RESTClient
	// watches are clients of the same groups for watches.
	watches                 map[schema.GroupVersion]*rest.RESTClient
	unlimited               *rest.RESTClient // of the core group
	metadata, metadataWatch metadata.Interface
	parameters              runtime.ParameterCodec
	gathering               atomic.Bool
}

// Host is the URL of the API server.
func (c *Client) Host() string { return c.host }

// Gather makes watches read their events together from now on. Call it when all objects
// are known: a connection would otherwise pause several times before their first list.
func (c *Client) Gather() { c.gathering.Store(true) }

// newClient creates the clients of the API groups, which share connections and the
// rate limit of config.
func newClient(config *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the kinds of Kubernetes: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	c := &Client{host: config.Host, parameters: runtime.NewParameterCodec(scheme)}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to the API server: %w", err)
	}
	if c.groups, c.metadata, err = clients(config, codecs, transport); err != nil {
		return nil, err
	}
	unlimited := rest.CopyConfig(config)
	unlimited.RateLimiter, unlimited.QPS = nil, -1
	if c.unlimited, err = groupClient(unlimited, corev1.SchemeGroupVersion, codecs, transport); err != nil {
		return nil, err
	}
	config = forWatches(config, &c.gathering)
	if transport, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("prepare the connection for watches: %w", err)
	}
	c.watches, c.metadataWatch, err = clients(config, codecs, transport)
	return c, err
}

// clients returns the clients of all groups and of metadata, on one transport.
func clients(config *rest.Config, codecs runtime.NegotiatedSerializer, transport *http.Client) (map[schema.GroupVersion]*rest.RESTClient, metadata.Interface, error) {
	all := map[schema.GroupVersion]*rest.RESTClient{}
	for version := range groups {
		group, err := groupClient(config, version, codecs, transport)
		if err != nil {
			return nil, nil, err
		}
		all[version] = group
	}
	metadata, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), transport)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the connection to the API server: %w", err)
	}
	return all, metadata, nil
}

func groupClient(config *rest.Config, version schema.GroupVersion, codecs runtime.NegotiatedSerializer, transport *http.Client) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &version, codecs
	config.APIPath = "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := rest.RESTClientForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to the API server: %w", err)
	}
	return client, nil
}

// in returns a request for objects of a namespace, or of all namespaces if it is
// empty.
func (r Resource) in(namespace string, request *rest.Request) *rest.Request {
	return request.NamespaceIfScoped(namespace, namespace != "").Resource(r.Plural)
}

// Get reads one object. It returns client-go's error, for use with
// apierrors.IsNotFound and the like.
func (c *Client) Get(ctx context.Context, r Resource, name snapshot.Name, into runtime.Object) error {
	return r.in(name.Namespace, c.groups[r.Version].Get()).Name(name.Name).Do(ctx).Into(into)
}

// Recall is Get for a Secret or ConfigMap of at least a version: "0" for any version in the
// cache of the API server, which is cheap but can be outdated, and "" for the newest. The
// limit of requests per second does not apply, so callers must limit themselves.
func (c *Client) Recall(ctx context.Context, r Resource, name snapshot.Name, version string, into runtime.Object) error {
	options := metav1.GetOptions{ResourceVersion: version}
	return r.in(name.Namespace, c.unlimited.Get()).Name(name.Name).VersionedParams(&options, c.parameters).Do(ctx).Into(into)
}

// RecallAlone is Recall with the permission list instead of get. into is a list of the
// object, empty if it does not exist.
func (c *Client) RecallAlone(ctx context.Context, r Resource, name snapshot.Name, version string, into runtime.Object) error {
	only := metav1.ListOptions{FieldSelector: ByName(name.Name), ResourceVersion: version}
	return r.in(name.Namespace, c.unlimited.Get()).VersionedParams(&only, c.parameters).Do(ctx).Into(into)
}

// List reads the objects of a namespace, or of all namespaces if it is empty.
func (c *Client) List(ctx context.Context, r Resource, namespace string, options metav1.ListOptions, into runtime.Object) error {
	return r.in(namespace, c.groups[r.Version].Get()).VersionedParams(&options, c.parameters).Do(ctx).Into(into)
}

// ListJSON reads objects of a kind that the client does not know, such as "apps/v1" and
// "deployments", in all namespaces. It returns the list as JSON.
func (c *Client) ListJSON(ctx context.Context, version, plural string, options metav1.ListOptions) ([]byte, error) {
	return c.groups[corev1.SchemeGroupVersion].Get().AbsPath("/apis", version, plural).SetHeader("Accept", runtime.ContentTypeJSON).
		VersionedParams(&options, c.parameters).Do(ctx).Raw()
}

// Create creates an object, and stores the answer of the API server in it.
func (c *Client) Create(ctx context.Context, r Resource, object Object) error {
	return r.in(object.GetNamespace(), c.groups[r.Version].Post()).Body(object).Do(ctx).Into(object)
}

// Update replaces an object, or its status if subresource is "status". It fails with
// a conflict if the object has changed since it was read.
func (c *Client) Update(ctx context.Context, r Resource, object Object, subresource ...string) error {
	return r.in(object.GetNamespace(), c.groups[r.Version].Put()).Name(object.GetName()).SubResource(subresource...).Body(object).Do(ctx).Into(object)
}

// Patch changes an object, or its status if subresource is "status". A server-side
// apply is a Patch of types.ApplyYAMLPatchType, whose options name the field manager.
// The result is stored in into.
func (c *Client) Patch(ctx context.Context, r Resource, p Patch, into runtime.Object) error {
	return r.in(p.Name.Namespace, c.groups[r.Version].Patch(p.Type)).Name(p.Name.Name).SubResource(p.Subresource...).
		VersionedParams(&p.Options, c.parameters).Body(p.Body).Do(ctx).Into(into)
}

// Object is an object of Kubernetes.
type Object interface {
	runtime.Object
	metav1.Object
}

// Patch is a change of one object.
type Patch struct {
	Name        snapshot.Name
	Subresource []string
	Type        types.PatchType
	Options     metav1.PatchOptions
	Body        []byte
}

// Selection selects the objects of a ListWatch.
type Selection struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// Name is empty for all objects.
	Name string
	// Labels and Fields are selectors; empty ones select everything.
	Labels, Fields string
}

// ByName returns the field selector for a name.
func ByName(name string) string {
	return fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
}

func (s Selection) narrow(o *metav1.ListOptions) {
	o.LabelSelector, o.FieldSelector = s.Labels, s.Fields
	if s.Name != "" {
		o.FieldSelector = ByName(s.Name)
	}
}

// ListWatch lists and watches whole objects for a reflector. list returns an empty
// list of their kind.
func (c *Client) ListWatch(r Resource, s Selection, list func() runtime.Object) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			s.narrow(&o)
			into := list()
			return into, c.List(ctx, r, s.Namespace, o, into)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			s.narrow(&o)
			o.Watch = true
			return r.in(s.Namespace, c.watches[r.Version].Get()).VersionedParams(&o, c.parameters).Watch(ctx)
		},
	}
}

// MetadataListWatch is ListWatch for *metav1.PartialObjectMetadata: the API server
// sends only metadata.
func (c *Client) MetadataListWatch(r Resource, s Selection) *cache.ListWatch {
	resource := c.metadata.Resource(r.Version.WithResource(r.Plural)).Namespace(s.Namespace)
	watched := c.metadataWatch.Resource(r.Version.WithResource(r.Plural)).Namespace(s.Namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			s.narrow(&o)
			return resource.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			s.narrow(&o)
			return watched.Watch(ctx, o)
		},
	}
}
