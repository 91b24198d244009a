package recorded

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/test/kit"
)

type object = map[string]any

// prefix is that of annotations, which scenarios leave out.
const prefix = "nginx.ingress.kubernetes.io/"

// World is what a scenario has in place: its objects and its backends.
type World struct {
	*Scenario
	t    *testing.T
	pods *pods
	// Namespace is the scenario's own.
	Namespace string
	// services in the order of their definition: the number of one is the third
	// part of the addresses of its pods.
	services    []string
	authorities map[string]*KeyPair
	clients     map[string]*KeyPair // by the names of clients
	present     map[string]object
	// clock gives the creation time of the next Ingress.
	clock time.Time
	// listening are the ports of TCP services here, by those of the recording.
	listening map[int]int
	// seen are backends in the order in which they answered.
	seen []string
	// jars hold the cookies of sessions, "NAME=VALUE" by session and name.
	jars map[string]map[string]string
	// own is the address of pods that an Ingress names by their address, unreachable
	// is set if this machine has none for them.
	own         string
	unreachable bool
	// moved are backends "SERVICE:PORT" whose port is another here.
	moved map[string]string
}

func newWorld(t *testing.T, s *Scenario) *World {
	t.Helper()
	return &World{
		Scenario: s, t: t, Namespace: "o-" + s.Name, authorities: map[string]*KeyPair{}, clients: map[string]*KeyPair{}, present: map[string]object{},
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), pods: newPods(t),
		jars: map[string]map[string]string{}, moved: map[string]string{},
	}
}

// apply changes the objects that are in place.
func (w *World) apply(o *Objects) {
	w.t.Helper()
	for _, s := range o.Services {
		w.lead(&s, o.DNS[s.ExternalName])
		w.putService(s)
	}
	if o.TCP != nil {
		w.putTCP(o.TCP)
	}
	for _, c := range o.Certs {
		w.putCertificate(c)
	}
	for name, data := range o.Secrets {
		encoded := object{}
		for key, value := range data {
			encoded[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		w.put("Secret", name, object{"data": encoded})
	}
	for name, data := range o.Maps {
		w.put("ConfigMap", name, object{"data": data})
	}
	for _, raw := range o.Objects {
		w.putRaw(raw)
	}
	for _, in := range o.Ingresses {
		w.putIngress(in)
	}
	for _, name := range o.Delete {
		delete(w.present, w.Namespace+"/"+name)
	}
}

func (w *World) put(kind, name string, o object) {
	o["apiVersion"], o["kind"] = versions[kind], kind
	meta, ok := o["metadata"].(object)
	if !ok {
		meta = object{}
		o["metadata"] = meta
	}
	meta["name"] = name
	if meta["namespace"] == nil && kind != "IngressClass" && kind != "Namespace" {
		meta["namespace"] = w.Namespace
	}
	w.present[fmt.Sprintf("%v/%s/%s", meta["namespace"], kind, name)] = o
}

var versions = map[string]string{
	"Service": "v1", "Secret": "v1", "ConfigMap": "v1", "Namespace": "v1",
	"EndpointSlice": "discovery.k8s.io/v1", "Ingress": "networking.k8s.io/v1", "IngressClass": "networking.k8s.io/v1",
}

// putRaw puts a copy of an object that the scenario has written out in full.
func (w *World) putRaw(raw object) {
	var o object
	if err := json.Unmarshal([]byte(asJSON(w.t, raw)), &o); err != nil {
		w.t.Fatal(err)
	}
	kind, name := o["kind"].(string), o["metadata"].(object)["name"].(string)
	if kind == "EndpointSlice" {
		endpoint := o["endpoints"].([]any)[0].(object)
		port := o["ports"].([]any)[0].(object)
		real := w.pods.port(endpoint["addresses"].([]any)[0].(string), int(port["port"].(float64)))
		endpoint["addresses"], port["port"] = []string{"127.0.0.1"}, real
	}
	if kind == "Ingress" {
		w.clock = w.clock.Add(time.Second)
		o["metadata"].(object)["creationTimestamp"] = w.clock.Format(time.RFC3339)
	}
	w.put(kind, name, o)
}

func (w *World) putService(s Service) {
	spec := object{"clusterIP": w.clusterAddress(&s)}
	if s.Headless {
		spec["clusterIP"] = "None"
	}
	var ports []object
	for _, p := range s.Ports {
		ports = append(ports, object{"name": p.Name, "port": p.Port, "targetPort": p.Target, "protocol": "TCP"})
	}
	spec["ports"] = ports
	if s.ExternalName != "" {
		spec["type"], spec["externalName"], s.NoSlice = "ExternalName", s.ExternalName, true
		delete(spec, "clusterIP")
	}
	w.put("Service", s.Name, object{"spec": spec})
	w.podAddress(s.Name, 0)
	for key := range w.present {
		if strings.HasPrefix(key, w.Namespace+"/EndpointSlice/"+s.Name+".") {
			delete(w.present, key)
		}
	}
	if s.NoSlice {
		return
	}
	for i, state := range s.Endpoints {
		if state != "absent" {
			w.putSlice(s, i, state)
		}
	}
}

// putTCP gives each TCP service a port that is free here.
func (w *World) putTCP(services map[string]string) {
	w.t.Helper()
	w.listening = map[int]int{}
	data := object{}
	for key, value := range services {
		recorded, err := strconv.Atoi(key)
		if err != nil {
			w.t.Fatal(err)
		}
		w.listening[recorded] = kit.Port(w.t)
		data[strconv.Itoa(w.listening[recorded])] = w.Local(value)
	}
	w.put("ConfigMap", "tcp-services", object{"data": data})
}

// conditions of an endpoint by the words that scenarios use.
var conditions = map[string]object{
	"ready":       {"ready": true, "serving": true, "terminating": false},
	"notready":    {"ready": false, "serving": false, "terminating": false},
	"terminating": {"ready": false, "serving": true, "terminating": true},
	"unknown":     {},
}

// putSlice gives each pod an EndpointSlice of its own, because each listens on
// a port of its own here.
func (w *World) putSlice(s Service, replica int, state string) {
	var ports []object
	for _, p := range s.Ports {
		real := w.pods.port(w.podAddress(s.Name, replica), p.Target)
		ports = append(ports, object{"name": p.Name, "port": real, "protocol": "TCP"})
	}
	w.put("EndpointSlice", fmt.Sprintf("%s.%d", s.Name, replica), object{
		"metadata":    object{"labels": object{"kubernetes.io/service-name": s.Name}},
		"addressType": "IPv4", "ports": ports,
		"endpoints": []object{{"addresses": []string{"127.0.0.1"}, "conditions": conditions[state]}},
	})
}

func (w *World) putIngress(in Ingress) {
	if in.Wait > 0 {
		w.clock = w.clock.Add(time.Second)
	}
	meta, spec := object{"creationTimestamp": w.clock.Format(time.RFC3339)}, object{}
	values := object{}
	for key, value := range in.Annotations {
		values[prefix+key] = w.Local(value)
	}
	if in.ClassAnnotation != "" {
		values["kubernetes.io/ingress.class"] = in.ClassAnnotation
	}
	meta["annotations"] = values
	switch {
	case in.Class != nil && *in.Class != "":
		spec["ingressClassName"] = *in.Class
	case in.Class == nil && in.ClassAnnotation == "":
		spec["ingressClassName"] = "nginx"
	}
	if in.DefaultBackend != "" {
		spec["defaultBackend"] = backend(cmp.Or(w.moved[in.DefaultBackend], in.DefaultBackend))
	}
	spec["rules"] = in.ruleObjects(w.Host, w.moved)
	var entries []object
	for _, entry := range in.TLS {
		entries = append(entries, object{"secretName": entry.Secret, "hosts": entry.Hosts})
	}
	spec["tls"] = entries
	w.put("Ingress", in.Name, object{"metadata": meta, "spec": spec})
}

func (in *Ingress) ruleObjects(host string, moved map[string]string) []object {
	rules := slices.Clone(in.Rules)
	hosts := in.Hosts
	if in.Host != nil {
		host = *in.Host
	}
	if len(in.Paths) > 0 && hosts == nil {
		hosts = []string{host}
	}
	for _, h := range hosts {
		rules = append(rules, Rule{Host: h, Paths: in.Paths})
	}
	var out []object
	for _, r := range rules {
		o := object{"host": r.Host}
		if len(r.Paths) > 0 {
			o["http"] = object{"paths": pathObjects(r.Paths, moved)}
		}
		out = append(out, o)
	}
	return out
}

func pathObjects(paths []string, moved map[string]string) []object {
	types := map[string]string{"Impl": "ImplementationSpecific"}
	var out []object
	for _, path := range paths {
		fields := strings.Fields(path)
		kind := "Prefix"
		if len(fields) == 3 {
			kind = fields[1]
		}
		if long, ok := types[kind]; ok {
			kind = long
		}
		o := object{"pathType": kind, "backend": backend(cmp.Or(moved[fields[len(fields)-1]], fields[len(fields)-1]))}
		if fields[0] != "-" {
			o["path"] = fields[0]
		}
		out = append(out, o)
	}
	return out
}

func backend(text string) object {
	name, port, ok := strings.Cut(text, ":")
	if !ok {
		port = "80"
	}
	if number, err := strconv.Atoi(port); err == nil {
		return object{"service": object{"name": name, "port": object{"number": number}}}
	}
	return object{"service": object{"name": name, "port": object{"name": port}}}
}

// Manifests are the objects in place, as documents of one file.
func (w *World) Manifests() string {
	w.t.Helper()
	var out strings.Builder
	for _, o := range w.present {
		out.WriteString(asJSON(w.t, o) + "\n---\n")
	}
	return out.String()
}

// In makes a test the one that fails if the world does.
func (w *World) In(t *testing.T) { w.t, w.pods.t = t, t }

// Change makes the change of a request.
func (w *World) Change(s *Sluice, r *Request) {
	w.t.Helper()
	w.clock = w.clock.Add(time.Duration(r.Pause) * time.Millisecond)
	w.apply(r.Change)
	s.change(w.t, w.Name, w.Manifests())
}

// Unreachable is set if this machine has no address but its loopback, and the world needs one.
func (w *World) Unreachable() bool { return w.unreachable }
