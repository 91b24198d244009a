package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

const (
	// fetchTimeout limits the time of fetch, mostFetched the objects that it reads.
	fetchTimeout = 30 * time.Second
	mostFetched  = 500
)

// fetch reads the objects that Ingresses refer to and that the controller does not have,
// because it reads only those of served Ingresses.
func (c *inCluster) fetch(ctx context.Context, ingresses []*networkingv1.Ingress, snap *snapshot.Snapshot) (objects snapshot.Objects, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	for i, ref := range c.missing(ingresses, snap) {
		if i == mostFetched {
			return objects, append(notes, fmt.Sprintf("more than %d objects that the manifests name", mostFetched))
		}
		if err := c.fetchOne(ctx, ref, &objects); err != nil && !apierrors.IsNotFound(err) {
			notes = append(notes, fmt.Sprintf("%s: %v", ref, err))
		}
	}
	return objects, notes
}

// missing returns the objects that Ingresses refer to, except those of a snapshot; sorted.
func (c *inCluster) missing(ingresses []*networkingv1.Ingress, snap *snapshot.Snapshot) []model.ObjectRef {
	var refs []model.ObjectRef
	settingsOf := translate.Settings(snap, c.options)
	for _, ing := range ingresses {
		refs = append(refs, translate.References(ing, settingsOf(ing), c.options)...)
		for _, backend := range backendsOf(ing) {
			if backend.Service != nil {
				refs = append(refs, model.ObjectRef{Kind: "Service", Namespace: ing.Namespace, Name: backend.Service.Name})
			}
		}
	}
	slices.SortFunc(refs, model.ObjectRef.Compare)
	return slices.DeleteFunc(slices.Compact(refs), func(ref model.ObjectRef) bool {
		name := snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
		switch ref.Kind {
		case "Service":
			return snap.Service(name) != nil
		case "Secret":
			return snap.Secret(name) != nil
		case "ConfigMap":
			return snap.ConfigMap(name) != nil
		}
		return true
	})
}

func backendsOf(ing *networkingv1.Ingress) []networkingv1.IngressBackend {
	var all []networkingv1.IngressBackend
	if ing.Spec.DefaultBackend != nil {
		all = append(all, *ing.Spec.DefaultBackend)
	}
	for _, rule := range ing.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			all = append(all, path.Backend)
		}
	}
	return all
}

// fetchOne reads an object, and the EndpointSlices of a Service.
func (c *inCluster) fetchOne(ctx context.Context, ref model.ObjectRef, into *snapshot.Objects) error {
	name := snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
	switch ref.Kind {
	case "Secret":
		o := &corev1.Secret{}
		if err := c.client.Get(ctx, kube.Secrets, name, o); err != nil {
			return err
		}
		into.Secrets = append(into.Secrets, o)
	case "ConfigMap":
		o := &corev1.ConfigMap{}
		if err := c.client.Get(ctx, kube.ConfigMaps, name, o); err != nil {
			return err
		}
		into.ConfigMaps = append(into.ConfigMaps, o)
	case "Service":
		o, slices := &corev1.Service{}, &discoveryv1.EndpointSliceList{}
		selected := metav1.ListOptions{LabelSelector: labels.Set{discoveryv1.LabelServiceName: name.Name}.String()}
		if err := c.client.Get(ctx, kube.Services, name, o); err != nil {
			return err
		}
		if err := c.client.List(ctx, kube.EndpointSlices, name.Namespace, selected, slices); err != nil {
			return err
		}
		into.Services = append(into.Services, o)
		for i := range slices.Items {
			into.EndpointSlices = append(into.EndpointSlices, &slices.Items[i])
		}
	}
	return nil
}
