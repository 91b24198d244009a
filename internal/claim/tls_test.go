package claim

import (
	"fmt"
	"slices"
	"testing"
)

// TestManyHosts: what is found of many hosts is what looking at each of them finds.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	some := []string{"shop.example", "*.shop.example", "a.shop.example", "A.Shop.Example", "b.a.shop.example", "*.a.shop.example", "example", "*.example", "*", "", "x.y", "*.y"}
	var items []TLSItem
	for at, host := range append(slices.Clone(some), some...) {
		if at%5 == 2 || at < 3 {
			items = append(items, TLSItem{Hosts: []string{host, fmt.Sprintf("n%d.other.example", at), fmt.Sprintf("n%d.further.example", at)}})
		}
	}
	many := NewTLS(items)
	if many.hosts.first == nil {
		t.Fatal("there are too few hosts")
	}
	few := TLS{Items: items}
	names := NamesOf(some[:5])
	for _, host := range append(some, "n0.other.example", "*.other.example", "other.example") {
		if got, want := [2]any{many.ItemOf(host), many.For(host)}, [2]any{few.ItemOf(host), few.For(host)}; got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
		if got, want := names.Related(host), slices.ContainsFunc(some[:5], func(name string) bool { return Related(name, host) }); got != want {
			t.Errorf("%q is related: %t, want %t", host, got, want)
		}
	}
}

// TestManyItems: items without hosts must not be looked at for each host either.
func TestManyItems(t *testing.T) {
	t.Parallel()
	if many := NewTLS(make([]TLSItem, 1000)); many.hosts.first == nil || !many.hostless || !many.For("shop.example") || many.ItemOf("shop.example") >= 0 {
		t.Errorf("that there are items without hosts is known: %t, and each host looks at each: %t", many.hostless, many.hosts.first == nil)
	}
}
