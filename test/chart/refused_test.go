package chart

import (
	"strings"
	"testing"

	"sluice/test/chart/rendering"
)

// TestWhatWouldServeNothingIsRefused: an installation by which every path answers
// 503, or no pod starts, fails before it is there.
func TestWhatWouldServeNothingIsRefused(t *testing.T) {
	t.Parallel()
	for values, says := range map[string]string{
		"controller: {config: {block-cidrs: 192.0.2.0/24, Enable-Modsecurity: true, proxy-body-size: 8m}}":   "controller.config: every path would answer 503, as Sluice does not read block-cidrs, enable-modsecurity yet, which would keep requests out. Leave them out, or accept that by controller.acceptUnsupported: [block-cidrs, enable-modsecurity].",
		"controller: {acceptUnsupported: [block-cidrs], config: {block-cidrs: a, enable-modsecurity: true}}": "does not read enable-modsecurity yet",
		"controller: {image: {repository: \"\"}}":                                                            "controller.image.repository: want the repository of Sluice's image",
		"controller: {image: {registry: \"\", tag: v1}}":                                                     "controller.image.repository: want the repository of Sluice's image",
	} {
		if _, err := rendering.Default().Render(values); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", values, err)
		}
	}
	for _, values := range []string{
		"controller: {acceptUnsupported: [Block-Cidrs], config: {block-cidrs: 192.0.2.0/24}}",
		"controller: {config: {enable-modsecurity: false, block-cidrs: \"\"}}",
		"controller: {image: {registry: registry.example}}",
		"global: {image: {registry: registry.example}}",
	} {
		if _, err := rendering.Default().Render(values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// TestStateVolumeIsBounded: what nginx buffers on disk cannot fill the node's.
func TestStateVolumeIsBounded(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"{}":                                 "emptyDir:\n          sizeLimit: \"8Gi\"\n",
		"controller: {stateSizeLimit: 1Gi}":  "emptyDir:\n          sizeLimit: \"1Gi\"\n",
		"controller: {stateSizeLimit: \"\"}": "emptyDir: {}\n",
	} {
		if manifests := render(t, values).Manifests; !strings.Contains(manifests, want) {
			t.Errorf("%s: want %q", values, want)
		}
	}
}
