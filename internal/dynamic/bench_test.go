package dynamic_test

import (
	"fmt"
	"testing"

	"sluice/internal/dynamic"
	"sluice/internal/model"
)

// manyBackends are those of a cluster with so many Services of two endpoints.
func manyBackends(count int) model.Dynamic {
	var d model.Dynamic
	for n := range count {
		d.Backends = append(d.Backends, backend(fmt.Sprintf("team-%d/service-%d/80", n%100, n),
			model.Endpoint{Address: fmt.Sprintf("10.1.%d.%d", n/250, n%250+1), Port: 8080},
			model.Endpoint{Address: fmt.Sprintf("10.2.%d.%d", n/250, n%250+1), Port: 8080}))
	}
	return d
}

// BenchmarkPushOneChangeOfMany is the cost of a change of endpoints while all other
// backends stay.
func BenchmarkPushOneChangeOfMany(b *testing.B) {
	for _, count := range []int{100, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s := start(b, &server{install: installs()[0]})
			d := manyBackends(count)
			check(b, s.client.Push(b.Context(), d))
			n := 0
			for b.Loop() {
				n++
				d.Backends[0] = backend(d.Backends[0].Key, model.Endpoint{Address: "10.0.0.1", Port: 1 + n%60000})
				check(b, s.client.Push(b.Context(), d))
			}
		})
	}
}

// BenchmarkPushEverything is the cost of a new nginx.
func BenchmarkPushEverything(b *testing.B) {
	s := start(b, &server{install: installs()[0]})
	d := manyBackends(10_000)
	for b.Loop() {
		check(b, dynamic.New(s.state+"/run/control.sock").Push(b.Context(), d))
	}
}
