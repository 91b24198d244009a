package render

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/model"
)

// The lines are those of the file. Each has the origin of Origin, and InServer.
func TestLines(t *testing.T) {
	t.Parallel()
	server := &model.Server{Host: "shop.example", Locations: []*model.Location{ingressLocation("web", model.PrefixFirst, "/a/")}}
	file, _ := load(t).Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	var all bytes.Buffer
	servers := map[string]bool{}
	last := 0
	for line := range file.Lines() {
		if last++; line.Number != last {
			t.Fatalf("line %d comes as number %d", last, line.Number)
		}
		if origin, ok := file.Origin(line.Number); !ok || origin != line.Origin {
			t.Errorf("line %d: %+v, Origin says %+v", line.Number, line.Origin, origin)
		}
		if line.InServer {
			servers[line.Host] = true
		}
		if strings.HasPrefix(string(line.Text), "\tserver_name shop") && !line.InServer {
			t.Errorf("line %d is in no server: %s", line.Number, line.Text)
		}
		if strings.HasPrefix(string(line.Text), "http {") && line.InServer {
			t.Errorf("line %d is in a server: %s", line.Number, line.Text)
		}
		all.Write(line.Text)
	}
	if !bytes.Equal(all.Bytes(), file.Bytes()) || last != file.LineCount() {
		t.Errorf("%d lines, want the %d of the file", last, file.LineCount())
	}
	if len(servers) != 2 || !servers[""] || !servers["shop.example"] {
		t.Errorf("servers %v", servers)
	}
}

// Selected lines are written unchanged, with a blank line in each gap.
func TestWriteSelected(t *testing.T) {
	t.Parallel()
	file, _ := load(t).Render(model.Static{Servers: []*model.Server{catchAll()}}, testEnvironment(), nil)
	lines := bytes.SplitAfter(file.Bytes(), []byte("\n"))
	var got bytes.Buffer
	found, err := file.WriteSelected(&got, func(l Line) bool { return l.Number == 2 || l.Number == 3 || l.Number == 5 })
	want := string(lines[1]) + string(lines[2]) + "\n" + string(lines[4])
	if !found || err != nil || got.String() != want {
		t.Errorf("%t %v %q, want %q", found, err, got.String(), want)
	}
	if !bytes.Equal(bytes.Join(lines, nil), file.Bytes()) {
		t.Error("the file was changed")
	}
	if found, _ := file.WriteSelected(&got, func(Line) bool { return false }); found {
		t.Error("nothing was found, and it says something was")
	}
}
