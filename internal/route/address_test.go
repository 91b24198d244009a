package route

import "testing"

func TestMayBeAddress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"10.0.0.1", "10.0.*", "*.0.0.1", "~.", "~^.*$", "~^[0-9.]+$", `~^\d`, "~^[^a]", "~^(shop|10)\\.", "~^(shop)?.", "~x*", "~x{0,3}", "~^[A-Z.:0-9]+$", "~^\\[", "~a", "~A:", "~", "~(",
	} {
		if !MayBeAddress(name) {
			t.Errorf("%s is taken for one that stands for no address", name)
		}
	}
	for _, name := range []string{
		"shop.example", "*.example", "10.*.x", "a.b", "x.*", `~^shop-[0-9]+\.example$`, `~\.example$`, `~^[a-z]+\.de$`, `~^(www|api)`, "~X", "~^[^0-9.:a-f\\[\\]]", "~(x.*)+", "~x{2}",
	} {
		if MayBeAddress(name) {
			t.Errorf("%s is taken for one that may stand for an address", name)
		}
	}
}
