package render

import (
	"testing"

	"sluice/internal/model"
)

// BenchmarkRender10000Cold prints 10,000 hosts of 7 locations from nothing.
func BenchmarkRender10000Cold(b *testing.B) {
	templates, static := load(b), shopStatic(10_000)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		file, _ := templates.Render(static, testEnvironment(), NewCache())
		size = file.Len()
	}
	b.ReportMetric(float64(size)/1e6, "MB")
	b.ReportMetric(float64(size)/10_000, "B/host")
}

// BenchmarkRender10000OneChange prints them after one host changed.
func BenchmarkRender10000OneChange(b *testing.B) {
	templates, static, cache := load(b), shopStatic(10_000), NewCache()
	templates.Render(static, testEnvironment(), cache)
	b.ReportAllocs()
	for b.Loop() {
		changed := *static.Servers[5_000]
		changed.Locations = append([]*model.Location(nil), changed.Locations...)
		static.Servers[5_000] = &changed
		templates.Render(static, testEnvironment(), cache)
	}
}
