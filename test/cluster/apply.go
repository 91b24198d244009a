package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// fieldManager is who the tests are to server-side apply.
const fieldManager = "test"

// Apply makes objects what they are here, by server-side apply. One that is
// already there loses what an earlier Apply set and this one does not.
func (c *Cluster) Apply(t testing.TB, objects ...runtime.Object) {
	t.Helper()
	c.each(t, "apply", untyped(t, objects), c.applier.apply)
}

// ApplyYAML is Apply for a text of one or more documents.
func (c *Cluster) ApplyYAML(t testing.TB, text string) {
	t.Helper()
	c.each(t, "apply", parse(t, text), c.applier.apply)
}

// CheckYAML asks the API server what it would say to each document of a text, and
// fails the test for those that it would refuse, or of which it does not know a
// field. Nothing is made.
func (c *Cluster) CheckYAML(t testing.TB, text string) {
	t.Helper()
	for _, o := range parse(t, text) {
		if err := c.applier.check(t.Context(), o); err != nil {
			t.Errorf("%s: %v", nameOf(o), err)
		}
	}
}

// Delete deletes objects, and waits until they are gone: a pod until its grace
// period is over, a namespace until it is empty.
func (c *Cluster) Delete(t testing.TB, objects ...runtime.Object) {
	t.Helper()
	c.remove(t, untyped(t, objects))
}

// DeleteYAML is Delete for a text of one or more documents.
func (c *Cluster) DeleteYAML(t testing.TB, text string) {
	t.Helper()
	c.remove(t, parse(t, text))
}

func (c *Cluster) remove(t testing.TB, objects []*unstructured.Unstructured) {
	t.Helper()
	c.each(t, "delete", objects, c.applier.delete)
	for _, o := range objects {
		Eventually(t, "the end of "+nameOf(o), func(ctx context.Context) error { return c.applier.gone(ctx, o) })
	}
}

// each does something with each object, and fails the test at the first that
// does not take it.
func (c *Cluster) each(t testing.TB, what string, objects []*unstructured.Unstructured, do func(context.Context, *unstructured.Unstructured) error) {
	t.Helper()
	for _, o := range objects {
		if err := do(context.Background(), o); err != nil {
			t.Fatalf("%s %s: %v", what, nameOf(o), err)
		}
	}
}

func nameOf(o *unstructured.Unstructured) string {
	return strings.TrimPrefix(fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()), "/")
}

// applier applies and deletes objects of any kind that the API server has.
type applier struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newApplier(config *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &applier{dynamic: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// at gives where objects of this kind and namespace are.
func (a *applier) at(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) { // it may have come since kinds were asked for
		a.mapper.Reset()
		mapping, err = a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return a.dynamic.Resource(mapping.Resource), nil
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return a.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
}

func (a *applier) apply(ctx context.Context, o *unstructured.Unstructured) error {
	return a.patch(ctx, o, metav1.PatchOptions{})
}

// check asks what an apply would say, with an error for each field that is not
// known. It changes nothing.
func (a *applier) check(ctx context.Context, o *unstructured.Unstructured) error {
	return a.patch(ctx, o, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
}

// patch applies an object by a server-side apply.
func (a *applier) patch(ctx context.Context, o *unstructured.Unstructured, options metav1.PatchOptions) error {
	place, err := a.at(o)
	if err != nil {
		return err
	}
	content, err := json.Marshal(o)
	if err != nil {
		return err
	}
	options.FieldManager, options.Force = fieldManager, new(true)
	_, err = place.Patch(ctx, o.GetName(), types.ApplyPatchType, content, options)
	return err
}

func (a *applier) delete(ctx context.Context, o *unstructured.Unstructured) error {
	place, err := a.at(o)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	return place.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
}

// gone says by an error that an object is still there.
func (a *applier) gone(ctx context.Context, o *unstructured.Unstructured) error {
	place, err := a.at(o)
	if err != nil {
		return err
	}
	_, err = place.Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = errors.New("it is still there")
	}
	return err
}

// untyped gives objects as the API server takes them of any kind, without what
// is not the tests' to say.
func untyped(t testing.TB, objects []runtime.Object) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, o := range objects {
		kinds, _, err := scheme.Scheme.ObjectKinds(o)
		if err != nil {
			t.Fatal(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(kinds[0])
		all = append(all, stripped(u))
	}
	return all
}

// stripped drops what the API server fills in, so that an object that was read
// can be applied.
func stripped(u *unstructured.Unstructured) *unstructured.Unstructured {
	delete(u.Object, "status")
	for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "uid", "generation"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	return u
}

// parse reads the documents of a YAML text.
func parse(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	var all []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("document %d of the YAML: %v", len(all)+1, err)
		}
		if len(u.Object) > 0 {
			all = append(all, u)
		}
	}
}
