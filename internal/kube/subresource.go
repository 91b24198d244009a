package kube

import (
	"context"
	"io"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"sluice/internal/snapshot"
)

// ForConfig prepares a client for whoever has found the API server by other
// means, such as kubectl's flags. It does not wait for the API server.
func ForConfig(config *rest.Config) (*Client, error) {
	silence()
	return newClient(config)
}

// Stream reads a subresource that is no object, such as the log of a pod. options
// are those of the subresource.
func (c *Client) Stream(ctx context.Context, r Resource, s Subresource, options runtime.Object) (io.ReadCloser, error) {
	return s.of(r, c.groups[r.Version].Get()).VersionedParams(options, c.parameters).Stream(ctx)
}

// URL is where a subresource is that is spoken to by another protocol, such as
// the exec of a pod.
func (c *Client) URL(r Resource, s Subresource, options runtime.Object) *url.URL {
	return s.of(r, c.groups[r.Version].Post()).VersionedParams(options, c.parameters).URL()
}

// Subresource is a part of an object that is asked for by itself.
type Subresource struct {
	Of   snapshot.Name
	Name string
}

func (s Subresource) of(r Resource, request *rest.Request) *rest.Request {
	return r.in(s.Of.Namespace, request).Name(s.Of.Name).SubResource(s.Name)
}
