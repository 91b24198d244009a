package injection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

// streamValues are hostile values as they are, in each part of an entry, and
// behind one that is right.
func streamValues() []string {
	var values []string
	for _, value := range corpus {
		values = append(values, value, value+"/raw:7000", "default/"+value+":7000", "default/raw:"+value, "default/raw:7000:"+value, "default/raw:7000:PROXY:"+value, "default/raw:7000"+value)
	}
	return unique(values)
}

// hostileStreams gives the world with each value in an entry of its own, and each
// as a key.
func hostileStreams(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	data := map[string]string{"9001": "default/raw:7000"}
	for i, value := range streamValues() {
		data[fmt.Sprint(3_000+i)] = value // below the ports of package ports
	}
	for _, key := range corpus {
		data[key] = "default/raw:7000"
		data["9002"+key] = "default/raw:7000"
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: name}, Data: data}
}

// TestNginxTakesHostileStreams: all entries that are hostile are left out, each
// with a Problem, or mean what a benign one does; nginx takes the file, and the
// entry beside them is served.
func TestNginxTakesHostileStreams(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			s, w := newSite(t, installed), newWorker(t)
			w.environment = s.Environment
			objects := worldObjects(t)
			objects.ConfigMaps = slices.DeleteFunc(objects.ConfigMaps, func(m *corev1.ConfigMap) bool { return m.Name != "config" })
			tcp, udp := hostileStreams(t, "tcp"), hostileStreams(t, "udp")
			objects.ConfigMaps = append(objects.ConfigMaps, tcp, udp)
			o := w.run(objects)
			if said := s.check(t, o.file); said != "" {
				t.Fatalf("nginx refuses the file: %.1000s", said)
			}
			served, problems := map[string]bool{}, map[string]bool{}
			for _, stream := range o.config.Static.Streams {
				served[stream.Source.Name+" "+stream.Field] = true
			}
			for _, p := range o.problems {
				problems[p.Object.Name+" "+p.Field] = true
			}
			left := 0
			for _, m := range []*corev1.ConfigMap{tcp, udp} {
				for key := range m.Data {
					if presentable(key) && len(key) < 250 && served[m.Name+" "+key] == problems[m.Name+" "+key] && m.Name == "tcp" {
						t.Errorf("the entry %s = %s of tcp is served: %t, and has a problem: %t", named(key), named(m.Data[key]), served[m.Name+" "+key], problems[m.Name+" "+key])
					}
					if !served[m.Name+" "+key] {
						left++
					}
				}
			}
			if !served["tcp 9001"] || left < 2*len(corpus) {
				t.Errorf("the benign entry is served: %t; %d are left out", served["tcp 9001"], left)
			}
			all(o.tree(t), func(d *directive) {
				if strings.HasPrefix(d.path, "stream") && strings.Contains(d.name+strings.Join(d.args, " "), marker) {
					t.Errorf("a value is in the file: %s %.200q", d.name, d.args)
				}
			})
		})
	}
}
