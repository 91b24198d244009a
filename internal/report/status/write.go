package status

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

const (
	// writeTimeout limits one write. It is shorter than the time after which other
	// replicas take the Lease of a leader that does not renew it.
	writeTimeout = 10 * time.Second
	// forbiddenRest is how long a namespace that forbids patches is updated instead,
	// before a patch is tried again.
	forbiddenRest = time.Hour
	// updateTries is the maximum number of updates after conflicts.
	updateTries = 3
)

// put writes a status and returns the resulting resourceVersion.
func (s *Statuses) put(ctx context.Context, served Served, points []point) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if s.patches(served.Name.Namespace) {
		version, err := s.apply(ctx, served, points)
		if !apierrors.IsForbidden(err) {
			return version, err
		}
		s.forbidden(served.Name.Namespace)
	}
	return s.update(ctx, served, points)
}

// patches reports whether a patch may be allowed in a namespace.
func (s *Statuses) patches(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, forbidden := s.updating[namespace]
	return !forbidden || time.Since(since) >= forbiddenRest
}

func (s *Statuses) forbidden(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.updating) == 0 {
		s.Log.Info("patch of ingresses/status is forbidden; the status is read and updated instead", "namespace", namespace)
	}
	s.updating[namespace] = time.Now()
}

// applied is the content of a server-side apply: the status of an Ingress and no
// other field. The uid keeps it from another Ingress of that name.
type applied struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        appliedMetadata `json:"metadata"`
	Status          appliedStatus   `json:"status"`
}

type appliedMetadata struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

type appliedStatus struct {
	LoadBalancer struct {
		// Ingress is sent even if empty: a field that is not applied is removed only
		// if nobody else owns it.
		Ingress []point `json:"ingress"`
	} `json:"loadBalancer"`
}

func (s *Statuses) apply(ctx context.Context, served Served, points []point) (string, error) {
	body := applied{
		TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress"},
		Metadata: appliedMetadata{served.Name.Namespace, served.Name.Name, served.UID},
	}
	body.Status.LoadBalancer.Ingress = append([]point{}, points...)
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	var after networkingv1.Ingress
	err = s.Client.Patch(ctx, kube.Ingresses, kube.Patch{
		Name: served.Name, Subresource: []string{"status"}, Type: types.ApplyYAMLPatchType, Body: text,
		Options: metav1.PatchOptions{FieldManager: FieldManager, Force: new(true)},
	}, &after)
	return after.ResourceVersion, err
}

// update reads the Ingress first, because the copy of the informer lacks fields that
// an update would remove.
func (s *Statuses) update(ctx context.Context, served Served, points []point) (version string, err error) {
	for range updateTries {
		var ing networkingv1.Ingress
		if err := s.Client.Get(ctx, kube.Ingresses, served.Name, &ing); err != nil {
			return "", err
		}
		if ing.UID != served.UID {
			return "", apierrors.NewNotFound(networkingv1.Resource(kube.Ingresses.Plural), served.Name.String())
		}
		ing.Status.LoadBalancer.Ingress = points
		err = s.Client.Update(ctx, kube.Ingresses, &ing, "status")
		if !apierrors.IsConflict(err) {
			return ing.ResourceVersion, err
		}
	}
	return "", err
}

// rival reads which other writer owns the status.
func (s *Statuses) rival(ctx context.Context, name snapshot.Name) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var ing networkingv1.Ingress
	if err := s.Client.Get(ctx, kube.Ingresses, name, &ing); err != nil {
		return "", fmt.Errorf("read who writes the status of Ingress %s: %w", name, err)
	}
	return rivalOf(&ing), nil
}
