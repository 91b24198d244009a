package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
)

// The source map has the origin of each line, and agrees with Origin.
func TestSourceMap(t *testing.T) {
	t.Parallel()
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	location.Blocks = []model.Block{{
		Name: "allow-list", Data: struct{ Networks []string }{[]string{"10.0.0.0/8"}},
		Source: model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "sluice"},
	}}
	server := &model.Server{Host: "shop.example", Locations: []*model.Location{location, ingressLocation("web", model.PrefixFirst, "/b/")}}
	file, _ := load(t).Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	want := map[string]Origin{
		"server_name shop.example;": {Host: "shop.example"},
		`location ^~ "/a/" {`:       {Host: "shop.example", Object: location.Rule.Object},
		"allow 10.0.0.0/8;":         {Host: "shop.example", Object: location.Blocks[0].Source, Behaviour: "allow-list"},
		"deny all;":                 {Host: "shop.example", Object: location.Blocks[0].Source, Behaviour: "allow-list"},
		"error_log stderr notice;":  {Behaviour: "log", Object: model.ObjectRef{}},
		"pcre_jit on;":              {},
	}
	lines := strings.Split(string(file.Bytes()), "\n")
	for i, line := range lines[:len(lines)-1] {
		origin, ok := file.Origin(i + 1)
		if o, known := want[strings.TrimSpace(line)]; known && origin != o || !ok {
			t.Errorf("line %d %s: %+v, %t", i+1, line, origin, ok)
		}
		delete(want, strings.TrimSpace(line))
	}
	if len(want) > 0 {
		t.Errorf("lines that are missing: %v", want)
	}
	checkSpans(t, file, len(lines)-1)
}

func checkSpans(t *testing.T, file *File, lines int) {
	t.Helper()
	next := 1
	for _, span := range file.SourceMap() {
		if span.First != next || span.Last < span.First {
			t.Errorf("span %+v, want it to begin at %d", span, next)
		}
		for line := span.First; line <= span.Last; line++ {
			if origin, _ := file.Origin(line); origin != span.Origin {
				t.Errorf("line %d: %+v, the source map says %+v", line, origin, span.Origin)
			}
		}
		next = span.Last + 1
	}
	if next != lines+1 {
		t.Errorf("the source map ends at %d of %d lines", next-1, lines)
	}
	for _, line := range []int{-1, 0, lines + 1} {
		if _, ok := file.Origin(line); ok {
			t.Errorf("there is no line %d", line)
		}
	}
}

func TestSourceMapAsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Span{First: 1, Last: 2, Origin: Origin{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}, Host: "a"}})
	want := `{"first":1,"last":2,"object":{"kind":"Ingress","namespace":"shop","name":"web"},"host":"a"}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	one, _ := loaded.Render(shopStatic(2), testEnvironment(), nil)
	same, _ := loaded.Render(shopStatic(2), testEnvironment(), nil)
	other, _ := loaded.Render(shopStatic(3), testEnvironment(), nil)
	var written bytes.Buffer
	if n, err := one.WriteTo(&written); err != nil || n != int64(one.Len()) || !bytes.Equal(written.Bytes(), one.Bytes()) {
		t.Errorf("WriteTo wrote %d of %d bytes, %v", n, one.Len(), err)
	}
	if !one.Equal(same) || one.Hash() != same.Hash() {
		t.Error("equal input gives other bytes")
	}
	if one.Equal(other) || one.Hash() == other.Hash() || one.Equal(nil) {
		t.Error("other input gives equal files")
	}
}

func TestHashSizes(t *testing.T) {
	t.Parallel()
	static := shopStatic(2)
	static.Servers[1].Host = strings.Repeat("a", 243)
	file, _ := load(t).Render(static, testEnvironment(), nil)
	if !strings.Contains(string(file.Bytes()), "server_names_hash_bucket_size 512;\n") {
		t.Error("a host of 243 bytes does not fit its bucket")
	}
	file, _ = load(t).Render(shopStatic(3000), testEnvironment(), nil)
	if !strings.Contains(string(file.Bytes()), "server_names_hash_max_size 4096;\n") {
		t.Error("the table is smaller than the number of hosts")
	}
}

// calls counts writes; the write number fail fails.
type calls struct {
	bytes.Buffer
	n, fail int
}

func (c *calls) Write(text []byte) (int, error) {
	if c.n++; c.n == c.fail {
		return 0, errors.New("full")
	}
	return c.Buffer.Write(text)
}

// TestFileIsWrittenInLargePieces: small writes would be a system call for every server.
func TestFileIsWrittenInLargePieces(t *testing.T) {
	t.Parallel()
	static := model.Static{Servers: []*model.Server{catchAll()}}
	for i := range 2000 {
		location := ingressLocation("web", model.PrefixFirst, "/a/")
		static.Servers = append(static.Servers, &model.Server{Host: fmt.Sprintf("h%d.example", i), Locations: []*model.Location{location}})
	}
	file, _ := load(t).Render(static, testEnvironment(), nil)
	var out calls
	if n, err := file.WriteTo(&out); err != nil || n != int64(file.Len()) || !bytes.Equal(out.Bytes(), file.Bytes()) {
		t.Errorf("%d of %d bytes written: %v", n, file.Len(), err)
	}
	if most := file.Len()/writeSize + 1; out.n > most {
		t.Errorf("%d bytes took %d writes, want %d at most", file.Len(), out.n, most)
	}
	full := calls{fail: 2}
	if n, err := file.WriteTo(&full); err == nil || n != int64(full.Len()) {
		t.Errorf("%d bytes written, %d arrived: %v", n, full.Len(), err)
	}
}
