package claim

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// read returns a claim with annotations and no attached data.
func read(t *testing.T, given map[string]string) *Claim {
	t.Helper()
	s, _ := settings.Read(nil)
	const prefix = "nginx.ingress.kubernetes.io"
	written := map[string]string{}
	for key, value := range given {
		written[prefix+"/"+key] = value
	}
	a := annotations.Read(&networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: written}}, s, prefix)
	return &Claim{Owner: &Owner{Annotations: a, Settings: s}, Annotations: a}
}

// Attached data counts for any group; no list names the groups.
func TestWhatIsAttachedToAnyGroupCounts(t *testing.T) {
	t.Parallel()
	plain := read(t, nil)
	for group := range plain.Annotations.Groups() {
		c := &Claim{Owner: &Owner{Annotations: plain.Annotations, Attached: map[any]*Attached{group: {Denied: true}}}, Annotations: plain.Annotations}
		if !c.IsDenied() {
			t.Errorf("%T is attached and denied, and the path is served", group)
		}
		c.Owner.Attached = map[any]*Attached{group: {Block: model.Block{Name: "x"}}}
		if !slices.ContainsFunc(c.Blocks(), func(b model.Block) bool { return b.Name == "x" }) {
			t.Errorf("the block of %T is not printed", group)
		}
	}
}

// ProtectingBlocks names the block of each protection, also if it does not exist.
func TestProtectingBlocksAreExpectedThoughNothingMadeThem(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]map[string]string{
		"basic-auth":    {"auth-type": "basic", "auth-secret": "users"},
		"external-auth": {"auth-url": "http://auth.example"},
		"allow-list":    {"whitelist-source-range": "10.0.0.0/8"},
		"limits":        {"limit-rps": "5"},
	} {
		if got := read(t, given).ProtectingBlocks(); !slices.Equal(got, []string{name}) {
			t.Errorf("%v: got %q, want %s", given, got, name)
		}
	}
	for _, given := range []map[string]string{{"limit-rps": "00"}, {"proxy-ssl-secret": "ca", "proxy-ssl-verify": "on"}, {"force-ssl-redirect": "true"}} {
		if got := read(t, given).ProtectingBlocks(); len(got) > 0 {
			t.Errorf("%v: got %q, want none", given, got)
		}
	}
}
