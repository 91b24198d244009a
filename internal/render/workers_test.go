package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/settings"
)

func TestSizeOfWorkers(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for name, test := range map[string]struct {
		hard, most         int
		files, connections int
		wantFiles          string
		wantConnections    string
		problem            string
	}{
		"nothing is known":        {0, 0, 0, 16384, "", "16384", ""},
		"not even what is said":   {0, 0, 0, 0, "", "768", ""},
		"the hard limit":          {20_000, 20_000, 0, 16384, "18976", "16384", ""},
		"a low hard limit":        {1500, 20_000, 0, 0, "1024", "768", ""},
		"that cannot be raised":   {512, 512, 0, 0, "512", "384", ""},
		"three quarters":          {20_000, 20_000, 10_001, 0, "10001", "7500", ""},
		"as much as can be":       {4096, 65536, 65536, 0, "65536", "49152", ""},
		"more than can be":        {4096, 65536, 65537, 100, "65536", "100", "want at most 65536, the limit of this machine (got 65537): that limit is used"},
		"not more than there are": {1 << 30, 1 << 30, 0, 0, "1073740800", "1048576", ""},
	} {
		values, _ := settings.Read(nil)
		values.Workers.OpenFiles, values.Workers.Connections = test.files, test.connections
		e := testEnvironment()
		e.OpenFiles, e.MostOpenFiles = test.hard, test.most
		file, problems := loaded.Render(model.Static{Blocks: values.Blocks()}, e, nil)
		text := string(file.Bytes())
		if got := argumentOf(text, "worker_rlimit_nofile"); got != test.wantFiles {
			t.Errorf("%s: %q files, want %q", name, got, test.wantFiles)
		}
		if got := argumentOf(text, "worker_connections"); got != test.wantConnections {
			t.Errorf("%s: %q connections, want %q", name, got, test.wantConnections)
		}
		told := ""
		for _, p := range problems {
			told += p.Text
		}
		if told != test.problem {
			t.Errorf("%s: problems %v", name, problems)
		}
	}
}

// argumentOf returns the arguments of the first directive of a name, "" for none.
func argumentOf(text, directive string) string {
	_, rest, _ := strings.Cut(text, directive+" ")
	argument, _, _ := strings.Cut(rest, ";")
	return argument
}
