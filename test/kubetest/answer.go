package kubetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// request is a request taken apart.
type request struct {
	*http.Request
	// path is that of the object, or of the kind if there is no name.
	path, plural, name, subresource string
	body                            []byte
}

func (r *request) resource() schema.GroupResource { return schema.GroupResource{Resource: r.plural} }

// parse takes the path of a request apart: the group and version, perhaps a
// namespace, the kind, perhaps a name, perhaps a subresource.
func parse(r *http.Request) (*request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	parsed := &request{Request: r, body: body}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := 2
	if parts[0] == "apis" {
		at = 3
	}
	if len(parts) > at+2 && parts[at] == "namespaces" {
		at += 2
	}
	for i, into := range []*string{&parsed.plural, &parsed.name, &parsed.subresource} {
		if at+i < len(parts) {
			*into = parts[at+i]
		}
	}
	parsed.path = "/" + strings.Join(parts[:min(len(parts), at+2)], "/")
	return parsed, nil
}

func (s *Server) answer(r *request) (object, error) {
	if r.Method == http.MethodPost {
		return s.create(r)
	}
	if r.Method == http.MethodGet && r.name == "" {
		return s.answerList(r)
	}
	before, found := s.objects[r.path]
	if !found {
		return nil, apierrors.NewNotFound(r.resource(), r.name)
	}
	switch {
	case r.Method == http.MethodGet:
		return before, nil
	case r.Method == http.MethodPut:
		return s.update(r, before)
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.MergePatchType):
		return s.mergePatch(r, before)
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) && r.subresource == "status":
		return s.applyStatus(r, before)
	}
	return nil, apierrors.NewMethodNotSupported(r.resource(), r.Method)
}

func (s *Server) answerList(r *request) (object, error) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	items := []object{}
	kinds := map[string]string{"pods": "PodList", "nodes": "NodeList"}
	for _, o := range s.list(r.path, r.plural) {
		if selector.Matches(labelsOf(o)) {
			items = append(items, o)
		}
	}
	kind, known := kinds[r.plural]
	if !known {
		return nil, apierrors.NewMethodNotSupported(r.resource(), "list")
	}
	return object{"kind": kind, "apiVersion": "v1", "metadata": object{}, "items": items}, nil
}

func labelsOf(o object) labels.Set {
	set := labels.Set{}
	all, _ := metadata(o)["labels"].(object)
	for key, value := range all {
		set[key] = fmt.Sprint(value)
	}
	return set
}

// decode reads a body that is an object, as protobuf or JSON.
func (s *Server) decode(r *request) (object, error) {
	decoded, kind, err := s.decoder.Decode(r.body, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o := object{}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o["apiVersion"], o["kind"] = kind.GroupVersion().String(), kind.Kind
	return o, nil
}

func (s *Server) create(r *request) (object, error) {
	o, err := s.decode(r)
	if err != nil {
		return nil, err
	}
	name, _ := metadata(o)["name"].(string)
	path := r.path + "/" + name
	if _, found := s.objects[path]; found {
		return nil, apierrors.NewAlreadyExists(r.resource(), name)
	}
	s.keep(path, o)
	return o, nil
}

// update replaces an object, or its status, if it is still as it was read.
func (s *Server) update(r *request, before object) (object, error) {
	o, err := s.decode(r)
	if err != nil {
		return nil, err
	}
	if read := metadata(o)["resourceVersion"]; read != nil && read != metadata(before)["resourceVersion"] {
		return nil, apierrors.NewConflict(r.resource(), r.name, fmt.Errorf("the object has been modified"))
	}
	if r.subresource == "status" {
		status := o["status"]
		o = copied(before)
		o["status"] = status
		manager, _, _ := strings.Cut(r.UserAgent(), "/")
		own(o, manager, "Update", !reflect.DeepEqual(status, before["status"]))
	}
	s.keep(r.path, o)
	return o, nil
}

func (s *Server) mergePatch(r *request, before object) (object, error) {
	o := copied(before)
	merge(o, decoded(r.body))
	s.keep(r.path, o)
	return o, nil
}

func merge(into, patch object) {
	for key, value := range patch {
		inner, isObject := value.(object)
		below, hasObject := into[key].(object)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && hasObject:
			merge(below, inner)
		default:
			into[key] = value
		}
	}
}

// applyStatus is a server-side apply of status.loadBalancer.ingress, which is an
// atomic list: who writes another list than the one that is there needs force,
// and owns it alone.
func (s *Server) applyStatus(r *request, before object) (object, error) {
	applied := decoded(r.body)
	if uid := metadata(applied)["uid"]; uid != nil && uid != metadata(before)["uid"] {
		return nil, apierrors.NewConflict(r.resource(), r.name, fmt.Errorf("uid mismatch"))
	}
	manager := r.URL.Query().Get("fieldManager")
	if manager == "" {
		return nil, apierrors.NewBadRequest("fieldManager is required for apply patch")
	}
	o := copied(before)
	o["status"] = applied["status"]
	changed := !reflect.DeepEqual(list(before), list(o))
	if changed && list(before) != nil && r.URL.Query().Get("force") != "true" {
		return nil, apierrors.NewConflict(r.resource(), r.name, fmt.Errorf("conflict with another manager"))
	}
	own(o, manager, "Apply", changed)
	if changed {
		s.keep(r.path, o)
	}
	return o, nil
}

func list(o object) any {
	status, _ := o["status"].(object)
	balancer, _ := status["loadBalancer"].(object)
	return balancer["ingress"]
}

// own writes down who owns the list, alone if it changed.
func own(o object, manager, operation string, alone bool) {
	kept := []any{}
	before, _ := metadata(o)["managedFields"].([]any)
	for _, entry := range before {
		if e, _ := entry.(object); !alone && e["manager"] != manager {
			kept = append(kept, e)
		}
	}
	metadata(o)["managedFields"] = append(kept, object{
		"manager": manager, "operation": operation, "apiVersion": "networking.k8s.io/v1", "subresource": "status", "fieldsType": "FieldsV1",
		"fieldsV1": object{"f:status": object{"f:loadBalancer": object{"f:ingress": object{}}}},
	})
}

func copied(o object) object { return decoded(encoded(o)) }
