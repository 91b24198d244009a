package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
)

func TestMirror(t *testing.T) {
	t.Parallel()
	text := `
{apiVersion: v1, kind: Endpoints, metadata: {name: web}, subsets: [
  {addresses: [{ip: 10.0.0.1, hostname: web-0}, {ip: 'fd00::1'}], notReadyAddresses: [{ip: 10.0.0.2}], ports: [{name: http, port: 80}]},
  {addresses: [{ip: 10.0.0.3}], ports: [{name: metrics, port: 90, protocol: TCP}]}]}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: api}, subsets: [{addresses: [{ip: 10.0.0.9}], ports: [{port: 80}]}]}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: api-x, labels: {kubernetes.io/service-name: api}}, addressType: IPv4, endpoints: []}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: none}}
`
	objects, _, err := decode.FromYAML("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := snapshot.New(objects)
	web := s.EndpointSlices(snapshot.Name{"default", "web"})
	var got []string
	for _, slice := range web {
		for _, e := range slice.Endpoints {
			got = append(got, fmt.Sprint(slice.Name, " ", slice.AddressType, " ", e.Addresses[0], " ", *e.Conditions.Ready, " ", *slice.Ports[0].Name, *slice.Ports[0].Port, *slice.Ports[0].Protocol))
		}
	}
	want := []string{
		"web-0 IPv4 10.0.0.1 true http80TCP", "web-0 IPv4 10.0.0.2 false http80TCP",
		"web-1 IPv6 fd00::1 true http80TCP", "web-2 IPv4 10.0.0.3 true metrics90TCP",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
	if api := s.EndpointSlices(snapshot.Name{"default", "api"}); len(api) != 1 || api[0].Name != "api-x" {
		t.Errorf("a Service with a slice got %v", api)
	}
	if none := s.EndpointSlices(snapshot.Name{"default", "none"}); none != nil {
		t.Errorf("no addresses make %v", none)
	}
	if again, _ := snapshot.New(objects); again.EndpointSlices(snapshot.Name{"default", "web"})[0] != web[0] {
		t.Error("another snapshot of the same objects has other slices")
	}
	objects.Mirrored = nil
	if bare, _ := snapshot.New(objects); len(bare.EndpointSlices(snapshot.Name{"default", "web"})) != 3 {
		t.Error("Endpoints that nobody mirrored are lost")
	}
}
