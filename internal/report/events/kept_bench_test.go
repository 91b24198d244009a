package events

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
)

// BenchmarkTake takes the Problems of 10,000 Ingresses, three of each, over and over.
func BenchmarkTake(b *testing.B) {
	var problems []model.Problem
	for i := range 10_000 {
		for key := range 3 {
			problems = append(problems, model.Problem{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: fmt.Sprintf("web-%05d", i)},
				Field: fmt.Sprint("nginx.ingress.kubernetes.io/no-such-key-", key), Reason: model.Unread, Text: "no annotation of that name is read"})
		}
	}
	r := &report{problems, func(o model.ObjectRef) (types.UID, string, bool) { return types.UID(o.Name), "7", true }}
	k, now := &New(Options{}).kept, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		k.take(r, now)
	}
}
