package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/admission"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// SettingsPath is the path for the ConfigMap with the settings. At SettingsPath + "/warn" nothing is
// rejected.
const SettingsPath = "/core/v1/configmaps"

// isConfigMap reports whether a ConfigMap is to be stored.
func (r *request) isConfigMap() bool {
	return r.Kind == metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"} && is(r.Object)
}

// configMap reads a ConfigMap of a request. Only its data counts.
func (r *request) configMap(text json.RawMessage) (*corev1.ConfigMap, error) {
	var read struct {
		Data json.RawMessage `json:"data"`
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}}
	if json.Unmarshal(text, &read) != nil {
		return nil, errors.New("want a ConfigMap of v1")
	}
	if n := elements(read.Data); n > mostElements {
		return nil, fmt.Errorf("want at most %d keys (got %d)", mostElements, n)
	}
	if is(read.Data) && json.Unmarshal(read.Data, &object.Data) != nil {
		return nil, errors.New("want data that are strings")
	}
	return object, nil
}

// settings judges the ConfigMap of a request, and returns how long that took.
func (s *Server) settings(ctx context.Context, r *request, in *lane) (v admission.Verdict, ref model.ObjectRef, took time.Duration, err error) {
	ref = model.ObjectRef{Kind: "ConfigMap", Namespace: r.Namespace, Name: r.Name}
	basis, ok := s.options.Basis()
	switch {
	case !ok:
		return v, ref, 0, &failure{http.StatusServiceUnavailable, "Sluice does not know all objects yet; try again"}
	case !basis.HasSettings(snapshot.Name{Namespace: r.Namespace, Name: r.Name}):
		return v, ref, 0, nil
	case in.judging.Acquire(ctx, 1) != nil:
		return v, ref, 0, &failure{http.StatusServiceUnavailable, "other reviews take all the time; try again"}
	}
	defer in.judging.Release(1)
	began := time.Now()
	object, err := r.configMap(r.Object)
	var former *corev1.ConfigMap
	if err == nil && is(r.OldObject) {
		former, err = r.configMap(r.OldObject)
	}
	if err != nil {
		return v, ref, 0, &failure{http.StatusBadRequest, err.Error()}
	}
	return basis.Settings(object, former), ref, time.Since(began), nil
}
