package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// unsteady is a client of an API server with an Ingress, its Secret and the
// settings. Requests get the status of fails unless it is 0, and watches hang.
func unsteady(t *testing.T, fails func(plural string) (status int)) *kube.Client {
	t.Helper()
	class := "nginx"
	meta := metav1.ListMeta{ResourceVersion: "7"}
	object := metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "5"}
	answers := map[string]any{
		"ingresses": networkingv1.IngressList{ListMeta: meta, Items: []networkingv1.Ingress{{ObjectMeta: object, Spec: networkingv1.IngressSpec{
			IngressClassName: &class, TLS: []networkingv1.IngressTLS{{SecretName: "web"}},
		}}}},
		"ingressclasses": networkingv1.IngressClassList{ListMeta: meta, Items: []networkingv1.IngressClass{{
			ObjectMeta: metav1.ObjectMeta{Name: class, ResourceVersion: "4"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"},
		}}},
		"configmaps": corev1.ConfigMapList{ListMeta: meta, Items: []corev1.ConfigMap{{ObjectMeta: object}}},
		"web":        corev1.SecretList{ListMeta: meta, Items: []corev1.Secret{{ObjectMeta: object}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		if plural == "secrets" && strings.Contains(r.URL.Query().Get("fieldSelector"), "metadata.name=web") {
			plural = "web" // that one, with its content
		}
		switch query, status := r.URL.Query(), fails(plural); {
		case status == http.StatusForbidden:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no right","code":403}`))
		case status != 0:
			w.WriteHeader(status)
		case query.Get("sendInitialEvents") != "": // as API servers before 1.32: lists it must be
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))
		case query.Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			answer, ok := answers[plural]
			if !ok {
				answer = metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, ListMeta: meta}
				if strings.HasSuffix(plural, "s") && plural != "secrets" {
					answer = map[string]any{"metadata": meta}
				}
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	client, err := kube.Connect(kube.Options{Server: server.URL, QPS: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The first Load waits until all is known that something refers to, so that
// nothing is served without its certificate, or without the settings, because the
// API server was in trouble for a moment.
func TestFirstLoadIsWhole(t *testing.T) {
	t.Parallel()
	for _, unread := range []string{"web", "configmaps", "services"} {
		t.Run(unread, func(t *testing.T) {
			t.Parallel()
			var failures atomic.Int32
			loaded := firstLoad(t, SecretsByMetadata, func(plural string) int {
				if plural == unread && failures.Add(1) <= 3 {
					return http.StatusInternalServerError
				}
				return 0
			})
			o := loaded.Objects
			if len(o.Ingresses) != 1 || len(o.Secrets) != 1 || len(o.ConfigMaps) != 1 || len(loaded.Errors) != 0 || failures.Load() <= 3 {
				t.Errorf("%d Ingresses, %d Secrets, %d ConfigMaps after %d attempts; errors %v", len(o.Ingresses), len(o.Secrets), len(o.ConfigMaps), failures.Load(), loaded.Errors)
			}
		})
	}
}

// firstLoad is the first result of a source of an unsteady API server.
func firstLoad(t *testing.T, mode SecretMode, fails func(plural string) (status int)) snapshot.Loaded {
	t.Helper()
	s := New(Options{Client: unsteady(t, fails), Secrets: mode, Translate: translate.Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", ConfigMap: snapshot.Name{Namespace: "shop", Name: "web"},
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := s.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	loaded, err := s.Load(ctx)
	if err != nil {
		t.Fatal(err, s.troubles.all())
	}
	return loaded
}

// A Secret that Sluice has no permission to read is not called missing.
func TestForbiddenSecretIsNotMissing(t *testing.T) {
	t.Parallel()
	for status, forbidden := range map[int][]model.ObjectRef{
		http.StatusForbidden: {{Kind: "Secret", Namespace: "shop", Name: "web"}},
		http.StatusOK:        nil,
	} {
		loaded := firstLoad(t, ReferencedSecrets, func(plural string) int {
			if plural == "web" && status != http.StatusOK {
				return status
			}
			return 0
		})
		if got := loaded.Objects.Forbidden; !slices.Equal(got, forbidden) {
			t.Errorf("%d: forbidden are %v, want %v", status, got, forbidden)
		}
	}
}
