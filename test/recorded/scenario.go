// Package recorded reads what was recorded of ingress-nginx 1.15.1, and asks it of
// Sluice again: scenarios of objects and requests, and the answers. They are in the
// testdata of test/compat and test/random.
package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Scenario is one recorded scenario: objects, and requests in order.
type Scenario struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
	Note     string   `json:"note"`
	// Variant names the flags that Sluice is started with, see variants.
	Variant string `json:"variant"`
	// Host is what Ingresses and requests have that name none.
	Host string `json:"host"`
	// Proxy is set if connections begin with a PROXY header.
	Proxy bool `json:"proxyProtocol"`
	Objects
	Requests []Request `json:"requests"`
}

// Objects are a set of objects in short form, at the start or as a change.
type Objects struct {
	Config map[string]string `json:"config"`
	// TCP is the ConfigMap of TCP services, by the ports of the recording.
	TCP       map[string]string `json:"tcp"`
	Services  []Service         `json:"services"`
	Certs     []Certificate     `json:"certs"`
	Ingresses []Ingress         `json:"ingresses"`
	// Secrets and Maps are Secrets and ConfigMaps by their names.
	Secrets map[string]map[string]string `json:"secrets"`
	Maps    map[string]map[string]string `json:"maps"`
	Objects []object                     `json:"objects"`
	// DNS has the addresses of names, when the answers were recorded.
	DNS map[string]string `json:"dns"`
	// Delete holds Kind/name.
	Delete []string `json:"delete"`
}

type Service struct {
	Name         string   `json:"name"`
	Replicas     int      `json:"replicas"`
	Ports        []port   `json:"ports"`
	Endpoints    []string `json:"endpoints"`
	Headless     bool     `json:"headless"`
	ExternalName string   `json:"externalName"`
	// NoSlice leaves the EndpointSlice out.
	NoSlice bool `json:"noSlice"`
}

type port struct {
	Name   string `json:"name"`
	Port   int    `json:"port"`
	Target int    `json:"target"`
}

// UnmarshalJSON takes "NAME", "NAME REPLICAS" or an object, and fills in what
// is left out: one replica, ready, port 80.
func (s *Service) UnmarshalJSON(data []byte) error {
	type plain Service
	var short string
	if json.Unmarshal(data, &short) != nil {
		if err := strict(data, (*plain)(s)); err != nil {
			return err
		}
		if s.Replicas == 0 && s.Endpoints == nil {
			s.Replicas = 1
		}
	} else {
		name, count, ok := strings.Cut(short, " ")
		s.Name, s.Replicas = name, 1
		if ok {
			var err error
			if s.Replicas, err = strconv.Atoi(count); err != nil {
				return err
			}
		}
	}
	for len(s.Endpoints) < s.Replicas {
		s.Endpoints = append(s.Endpoints, "ready")
	}
	if s.Ports == nil {
		s.Ports = []port{{Name: "http", Port: 80, Target: 8080}}
	}
	return nil
}

// certificate asks for a Secret, an authority, or the certificate of the
// backends.
type Certificate struct {
	// CA names the authority that signs; empty for self-signed.
	CA     string   `json:"ca"`
	Secret string   `json:"secret"`
	Hosts  []string `json:"hosts"`
	CN     string   `json:"cn"`
	// WithCA adds ca.crt, CAOnly leaves everything else away.
	WithCA bool `json:"withCA"`
	CAOnly bool `json:"caOnly"`
	// Broken is crt, key, mismatch or expired.
	Broken string `json:"broken"`
	// Client names a client that has the certificate.
	Client string `json:"client"`
	// Echo gives the certificate to the backends of this scenario.
	Echo bool `json:"echo"`
}

type Ingress struct {
	Name  string   `json:"name"`
	Host  *string  `json:"host"`
	Hosts []string `json:"hosts"`
	// Paths are "PATH [TYPE] SERVICE[:PORT]".
	Paths           []string          `json:"paths"`
	Rules           []Rule            `json:"rules"`
	Annotations     map[string]string `json:"annotations"`
	TLS             []TlsEntry        `json:"tls"`
	Class           *string           `json:"class"`
	ClassAnnotation string            `json:"classAnnotation"`
	DefaultBackend  string            `json:"defaultBackend"`
	// Wait is set if the Ingress was created in a later second than the one before it.
	Wait int `json:"wait"`
}

type Rule struct {
	Host  string   `json:"host"`
	Paths []string `json:"paths"`
}

type TlsEntry struct {
	Secret string   `json:"secret"`
	Hosts  []string `json:"hosts"`
}

// Request is a request, or several of the same kind, or a change of objects.
type Request struct {
	// U is PATH or http[s]://HOST/PATH, sent as written.
	U       string            `json:"u"`
	ID      string            `json:"id"`
	Method  string            `json:"method"`
	Headers []string          `json:"headers"`
	H       map[string]string `json:"h"`
	Body    int               `json:"body"`
	Data    string            `json:"data"`
	Chunked bool              `json:"chunked"`
	Repeat  int               `json:"repeat"`
	// Tol is how far counts may be off, as a share of Repeat.
	Tol float64 `json:"tol"`
	// Rel names backends by the order in which they first answer.
	Rel bool `json:"rel"`
	// Session names a client that keeps its cookies.
	Session string `json:"session"`
	// WaitHits is set if a backend may get a copy of the request after the answer
	// is there.
	WaitHits bool    `json:"waitHits"`
	SNI      *string `json:"sni"`
	ClientIP string  `json:"clientIP"`
	// Client names the certificate of the client, empty for none.
	Client string `json:"client"`
	// ProxyHeader is that of this connection, "none" for none.
	ProxyHeader string `json:"proxyHeader"`
	H2          bool   `json:"h2"`
	H10         bool   `json:"http10"`
	WS          bool   `json:"ws"`
	// GRPC is set for a call of gRPC: by HTTP/2, with POST.
	GRPC bool `json:"grpc"`
	// TCP is the port of a TCP service to which the request goes. It is the line
	// Data if U is "tcp".
	TCP int `json:"tcp"`
	// Only names the parts of the answer that were recorded.
	Only   []string `json:"only"`
	Pause  int      `json:"pause"`
	Change *Objects `json:"change"`
}

// UnmarshalJSON takes "[METHOD ]ADDRESS" or an object.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	var short string
	if json.Unmarshal(data, &short) != nil {
		return strict(data, (*plain)(r))
	}
	r.U = short
	if method, address, ok := strings.Cut(short, " "); ok {
		r.Method, r.U = method, address
	}
	return nil
}

func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Question names a request in the lists of differences.
func (s *Scenario) Question(i int) string { return s.Name + " " + s.Requests[i].label(i) }

// stable leaves out what differed between recordings, too.
func (r *Record) stable(i int, found []string) []string {
	return slices.DeleteFunc(found, func(difference string) bool {
		place, _, _ := strings.Cut(difference, ": ")
		return slices.Contains(r.Unstable, fmt.Sprintf("/answers/%d%s", i, place))
	})
}

// label is how the recorded answers name a request.
func (r *Request) label(i int) string {
	if r.Change != nil {
		return fmt.Sprintf("#%d change", i)
	}
	label := fmt.Sprintf("#%d %s %s", i, r.method(), r.U)
	if r.ID != "" {
		label += " (" + r.ID + ")"
	}
	return label
}

func (r *Request) method() string {
	if r.Method == "" {
		return "GET"
	}
	return r.Method
}

// Record is a scenario as it was recorded.
type Record struct {
	Name    string   `json:"name"`
	Answers []Answer `json:"answers"`
	// Served is false if the scenario's objects kept ingress-nginx from taking any change.
	Served bool `json:"served"`
	// Unstable are the places that differ from one recording to the next.
	Unstable []string `json:"unstable"`
}

// Read reads the scenarios of testdata/*.yaml.
func Read(t *testing.T) []*Scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var all []*Scenario
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Cases []*Scenario `json:"cases"`
		}
		if err := yaml.UnmarshalStrict(content, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, list.Cases...)
	}
	for _, s := range all {
		if s.Host == "" {
			s.Host = s.Name + ".example.org"
		}
	}
	return all
}

// ReadRecord reads the answers to a scenario.
func ReadRecord(t *testing.T, name string) *Record {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{}
	if err := json.Unmarshal(content, r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
