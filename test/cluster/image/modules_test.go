//go:build image

package image

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// optional are the modules that only some configurations load, by a part of their
// files' names.
var optional = []string{"modsecurity", "brotli_filter", "brotli_static", "http_geoip2", "headers_more", "ngx_stream_module", "stream_geoip2"}

// loadsModules: the image's nginx takes each module of the image. It looks for all
// that a module needs, in its libraries and in other modules, when it loads it.
func (s *container) loadsModules(t *testing.T) {
	t.Helper()
	const folder = "/usr/lib/nginx/modules"
	entries, err := os.ReadDir(filepath.Join(s.root, folder))
	if err != nil {
		t.Fatal(err)
	}
	var first, others []string
	for _, entry := range entries {
		line := fmt.Sprintf("load_module %s/%s;", folder, entry.Name())
		if name := entry.Name(); name == "ndk_http_module.so" || name == "ngx_stream_module.so" { // Lua's and GeoIP2's need them
			first = append(first, line)
		} else {
			others = append(others, line)
		}
	}
	all := strings.Join(append(first, others...), "\n")
	for _, module := range append(slices.Clone(optional), "http_lua") {
		if !strings.Contains(all, module) {
			t.Errorf("the image has no module %s:\n%s", module, all)
		}
	}
	s.mustExec(t, "sh", "-c", fmt.Sprintf("printf '%%s\\n' '%s' 'pid /tmp/modules.pid;' 'events {}' >/tmp/modules.conf", all))
	if output, err := s.exec("nginx", "-t", "-e", "stderr", "-c", "/tmp/modules.conf"); err != nil {
		t.Errorf("nginx does not take\n%s\n%v: %s", all, err, output)
	}
}

// loaded says whether nginx has a module in its memory.
func (s *container) loaded(t *testing.T, module string) bool {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.nginx(t)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), module)
}

// The port and the ConfigMap of the TCP service.
const tcpPort, tcpServices = 9000, "tcp-services"

// servesTCP: a TCP service that is added is served, by the stream module, which is
// only loaded for it.
func (s *container) servesTCP(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if s.loaded(t, "ngx_stream_module") {
		t.Error("nginx has loaded the stream module before there is a TCP service")
	}
	services := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: tcpServices},
		Data:       map[string]string{fmt.Sprint(tcpPort): s.namespace + "/web:80"},
	}
	c.Apply(t, services)
	request := cluster.Request{URL: fmt.Sprintf("http://127.0.0.1:%d/", tcpPort)}
	cluster.EventuallyAnswer(t, request, "a pod through the TCP service", func(a *cluster.Answer) bool { return a.Echo != nil && a.Echo.Namespace == s.namespace })
	if !s.loaded(t, "ngx_stream_module") {
		t.Error("nginx serves a TCP service without having loaded the stream module")
	}
}
