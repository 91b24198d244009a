package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// mostElements is the most members of the objects and arrays of a spec, or of annotations, that are
// decoded: each takes some hundred bytes then, however short it is. 20,000 paths have 160,000.
const mostElements = 200_000

// request is the part of an AdmissionRequest that is read. Nothing else is decoded, because a short
// text such as [{},{}] can become large.
type request struct {
	UID               types.UID               `json:"uid"`
	Kind              metav1.GroupVersionKind `json:"kind"`
	Namespace         string                  `json:"namespace"`
	Name              string                  `json:"name"`
	Object, OldObject json.RawMessage
}

// isIngress reports whether an Ingress is to be stored.
func (r *request) isIngress() bool {
	return r.Kind == metav1.GroupVersionKind{Group: networkingv1.GroupName, Version: "v1", Kind: "Ingress"} && is(r.Object)
}

// beginningOf reads what is before the object in the beginning of a review, as the API server writes
// it. Of the object it tells only whether there is one.
func beginningOf(body []byte) *request {
	r, d := &request{}, json.NewDecoder(bytes.NewReader(body))
	var skipped json.RawMessage
	wanted := map[string]any{"uid": &r.UID, "kind": &r.Kind, "namespace": &r.Namespace, "name": &r.Name}
	_ = eachMember(d, func(key string) error { // it ends with an error, at the latest where the text is cut
		if key != "request" {
			return d.Decode(&skipped)
		}
		return eachMember(d, func(key string) error {
			if key == "object" {
				if begin, err := d.Token(); err == nil && begin == json.Delim('{') {
					r.Object = json.RawMessage("{}")
				}
				return io.EOF
			} else if to := wanted[key]; to != nil {
				return d.Decode(to)
			}
			return d.Decode(&skipped)
		})
	})
	return r
}

// eachMember calls a function at the value of each member of an object, until it returns an error.
func eachMember(d *json.Decoder, read func(key string) error) error {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return io.ErrUnexpectedEOF
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	return nil
}

func is(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }

// partial is an Ingress whose spec, but for the class, is not decoded yet.
type partial struct {
	object *networkingv1.Ingress
	spec   json.RawMessage
}

// open reads an Ingress of a request in part. An error says what would be valid.
func (r *request) open(text json.RawMessage) (*partial, error) {
	var read struct {
		Metadata struct {
			Name              string          `json:"name"`
			GenerateName      string          `json:"generateName"`
			Namespace         string          `json:"namespace"`
			CreationTimestamp metav1.Time     `json:"creationTimestamp"`
			Annotations       json.RawMessage `json:"annotations"`
		} `json:"metadata"`
		Spec json.RawMessage `json:"spec"`
	}
	var class struct {
		IngressClassName *string `json:"ingressClassName"`
	}
	var annotations map[string]string
	if json.Unmarshal(text, &read) != nil || is(read.Spec) && json.Unmarshal(read.Spec, &class) != nil {
		return nil, errors.New("want an Ingress of networking.k8s.io/v1")
	}
	of := read.Metadata
	if n := elements(of.Annotations); n > mostElements {
		return nil, fmt.Errorf("want at most %d annotations (got %d)", mostElements, n)
	}
	if is(of.Annotations) && json.Unmarshal(of.Annotations, &annotations) != nil {
		return nil, errors.New("want annotations that are strings")
	}
	name := of.Name
	if name == "" { // made by the API server from generateName, which it shortens
		name = of.GenerateName[:min(len(of.GenerateName), validation.DNS1123SubdomainMaxLength-5)] + "new"
	}
	switch {
	case len(validation.IsDNS1123Label(r.Namespace)) > 0 || of.Namespace != "" && of.Namespace != r.Namespace:
		return nil, errors.New("want the namespace of the request, a DNS label, in the object too")
	case len(validation.IsDNS1123Subdomain(name)) > 0 || r.Name != "" && of.Name != r.Name:
		return nil, errors.New("want the name of the request, a DNS name, in the object too")
	}
	object := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name, CreationTimestamp: of.CreationTimestamp, Annotations: annotations},
		Spec:       networkingv1.IngressSpec{IngressClassName: class.IngressClassName},
	}
	return &partial{object, read.Spec}, nil
}

// tooLarge says why the spec is not decoded, "" if it can be.
func (p *partial) tooLarge() string {
	if n := elements(p.spec); n > mostElements {
		return fmt.Sprintf("want at most %d members of its objects and arrays (got %d)", mostElements, n)
	}
	return ""
}

// complete decodes the spec.
func (p *partial) complete() error {
	if is(p.spec) && json.Unmarshal(p.spec, &p.object.Spec) != nil {
		return errors.New("want an Ingress of networking.k8s.io/v1")
	}
	return nil
}

// elements counts the members of the objects and arrays of a JSON text, or a few more.
func elements(text []byte) (n int) {
	for len(text) > 0 {
		at := bytes.IndexAny(text, `"{[,`)
		if at < 0 {
			return n
		}
		isString := text[at] == '"'
		text = text[at+1:]
		if isString {
			text = afterString(text)
		} else {
			n++
		}
	}
	return n
}

// afterString returns what follows a string whose first quote is cut.
func afterString(text []byte) []byte {
	for len(text) > 0 {
		at := bytes.IndexAny(text, `"\`)
		switch {
		case at < 0:
			return nil
		case text[at] == '"':
			return text[at+1:]
		}
		text = text[min(at+2, len(text)):]
	}
	return nil
}
