package cluster

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// TestSecretThatIsNotAnsweredHoldsNobodyUp: while the API server does not answer
// for one Secret, Load says at once what else there is, with that Secret as it was,
// and the answer is a signal when it comes.
func TestSecretThatIsNotAnsweredHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, mode := range []SecretMode{SecretsByMetadata, ReferencedSecrets} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			var hangs atomic.Bool
			answer := make(chan struct{})
			client := unsteady(t, func(plural string) int {
				if plural == "web" && hangs.Load() {
					<-answer
				}
				return 0
			})
			s := New(Options{Client: client, Secrets: mode, Translate: translate.Options{
				IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io",
			}})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			signals, err := s.Watch(ctx)
			must(t, err)
			load := func() (snapshot.Loaded, time.Duration) {
				t.Helper()
				began := time.Now()
				loaded, err := s.Load(ctx)
				must(t, err)
				return loaded, time.Since(began)
			}
			_, _ = load()
			hangs.Store(true)
			switch secrets := s.secrets.(type) {
			case *readSecrets:
				must(t, secrets.Update(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "9"}}))
			case *polledObjects[corev1.Secret, *corev1.Secret]:
				secrets.keep(nil) // it is referred to anew
			}
			quickest := time.Hour // a busy machine delays some, and a wait for the answer all
			for range 5 {
				loaded, took := load()
				quickest = min(quickest, took)
				if mode == SecretsByMetadata && len(loaded.Objects.Secrets) != 1 {
					t.Errorf("%d Secrets are known", len(loaded.Objects.Secrets))
				}
			}
			if quickest >= ownedWait {
				t.Errorf("each of five loads took %s or more", quickest)
			}
			for len(signals) > 0 {
				<-signals
			}
			hangs.Store(false)
			close(answer)
			for known := 0; known == 0; {
				select {
				case <-signals: // others than that of the answer may come before it
				case <-ctx.Done():
					t.Fatal("the answer is no signal")
				}
				loaded, _ := load()
				known = len(loaded.Objects.Secrets)
			}
		})
	}
}
