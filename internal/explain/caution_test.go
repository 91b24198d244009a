package explain

import (
	"slices"
	"testing"

	"sluice/internal/model"
	"sluice/internal/translate"
)

// TestCautions: the Problems of an Ingress have what lint says of its annotations.
func TestCautions(t *testing.T) {
	t.Parallel()
	in := inputOf(t, ingress("a", []string{"shop.example / Prefix web"}, `auth-url: "http://auth.example.net/"`, `auth-cache-key: "everybody"`), nil)
	e := asked(t, in, "shop.example/")
	if !slices.ContainsFunc(e.Problems, func(p model.Problem) bool { return p.Reason == translate.Keyless }) {
		t.Errorf("got %v, want one of the reason Keyless", e.Problems)
	}
}

// TestUnusedKeys: what has no effect with gRPC is not among the behaviours.
func TestUnusedKeys(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string]bool{"GRPC": false, "HTTP": true} {
		in := inputOf(t, ingress("a", []string{"shop.example / Prefix web"}, `backend-protocol: "`+protocol+`"`,
			`proxy-buffering: "on"`, `proxy-http-version: "1.0"`, `proxy-buffer-size: "8k"`), nil)
		keys := map[string]bool{}
		for _, b := range asked(t, in, "shop.example/").Applied.Behaviours {
			for _, k := range b.Keys {
				keys[k.Key] = true
			}
		}
		for _, key := range []string{"proxy-buffering", "proxy-http-version"} {
			if keys[key] != want {
				t.Errorf("%s: %s is shown: %v", protocol, key, keys[key])
			}
		}
		if !keys["proxy-buffer-size"] {
			t.Errorf("%s: proxy-buffer-size is not shown: %v", protocol, keys)
		}
	}
}
