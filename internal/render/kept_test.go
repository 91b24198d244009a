package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// All pools together keep at least what the setting says, and no single one more than that.
func TestSizeOfPools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, connections, want int }{
		{320, 16384, 256}, {320, 1024, 20}, {320, 16, 20}, {320, 1 << 20, 320}, {256, 16384, 256}, {100, 16384, 100}, {1, 16384, 1}, {1, 16, 1},
		{17, 16, 2}, {10000, 16384, 625}, {65536, 16384, 4096},
	} {
		static := shopStatic(1)
		static.Blocks = settingsBlocks(t, c.setting, c.connections)
		file, problems := load(t).Render(static, testEnvironment(), nil)
		if found := regexp.MustCompile(`\n\tkeepalive (\d+);`).FindAllStringSubmatch(string(file.Bytes()), -1); len(found) != 1 || found[0][1] != fmt.Sprint(c.want) || len(problems) > 0 {
			t.Errorf("%d of %d connections: pools %v, problems %v, want %d", c.setting, c.connections, found, problems, c.want)
		}
	}
}

// Services are spread over the pools, each always in the same one whatever chooses among its
// endpoints. Without kept connections, there is one upstream.
func TestPoolsOfServices(t *testing.T) {
	t.Parallel()
	static := shopStatic(1)
	first := static.Servers[1].Locations[0]
	static.Servers[1].Locations = nil
	for i := range 200 {
		for _, variant := range []string{"", "~cookie-0a", "~split-0b"} {
			l, proxy := *first, *first.Proxy
			l.Path = fmt.Sprintf("/%d%s", i, variant)
			proxy.Backend = fmt.Sprintf("shop/web-%d/80%s", i, variant)
			l.Proxy = &proxy
			static.Servers[1].Locations = append(static.Servers[1].Locations, &l)
		}
	}
	for setting, want := range map[int]int{0: 1, 1: pools} {
		static.Blocks = settingsBlocks(t, setting, 16384)
		file, problems := load(t).Render(static, testEnvironment(), nil)
		text, of := string(file.Bytes()), map[string]string{}
		if got := strings.Count(text, "\nupstream sluice_key"); got != want || len(problems) > 0 {
			t.Errorf("setting %d: %d upstreams, want %d; problems %v", setting, got, want, problems)
		}
		for _, found := range regexp.MustCompile(`set \$backend shop/(web-\d+)/80\S*;\n(?:\t\t(?:set|log).*\n)*\t\tproxy_pass http://sluice_key(\w*);`).FindAllStringSubmatch(text, -1) {
			if before, ok := of[found[1]]; ok && before != found[2] {
				t.Errorf("%s is in the pools %q and %q", found[1], before, found[2])
			}
			of[found[1]] = found[2]
		}
		if len(of) != 200 {
			t.Errorf("%d Services in\n%.2000s", len(of), text)
		}
	}
}

func settingsBlocks(t *testing.T, kept, connections int) []model.Block {
	t.Helper()
	values, faults := settings.Read(&corev1.ConfigMap{Data: map[string]string{"upstream-keepalive-connections": fmt.Sprint(kept), "max-worker-connections": fmt.Sprint(connections)}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return values.Blocks()
}
