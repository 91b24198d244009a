package cluster

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Echo is what a pod answers over HTTP: which pod it is, and the request as it
// came.
type Echo struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	IP        string `json:"ip"`
	Port      int    `json:"port"`

	Method  string      `json:"method"`
	Path    string      `json:"path"` // with the query, as sent
	Host    string      `json:"host"`
	Proto   string      `json:"proto"`
	Headers http.Header `json:"headers"`
	Client  string      `json:"client"` // the address and port that the connection came from
	Body    string      `json:"body,omitempty"`
	SNI     string      `json:"sni,omitempty"` // of an HTTPS request
}

// Headers by which a request says how it wants to be answered.
const (
	// DelayHeader is how long the pod thinks, such as "2s".
	DelayHeader = "X-Echo-Delay"
	// StatusHeader is the status that it answers with.
	StatusHeader = "X-Echo-Status"
)

func (p *pod) name() string {
	object := p.object.Load()
	return object.Namespace + "/" + object.Name
}

// echo answers each request with an Echo.
func (p *pod) echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			return // the client is gone
		}
		if delay, err := time.ParseDuration(r.Header.Get(DelayHeader)); err == nil {
			select {
			case <-time.After(delay):
			case <-r.Context().Done():
				return
			}
		}
		status := http.StatusOK
		if asked, err := strconv.Atoi(r.Header.Get(StatusHeader)); err == nil {
			status = asked
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(p.echoOf(r, string(body)))
	})
}

func (p *pod) echoOf(r *http.Request, body string) Echo {
	object := p.object.Load()
	e := Echo{
		Namespace: object.Namespace, Pod: object.Name, IP: p.address, Method: r.Method, Path: r.RequestURI, Host: r.Host, Proto: r.Proto,
		Headers: r.Header, Client: r.RemoteAddr, Body: body,
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		e.Port = local.Port
	}
	if r.TLS != nil {
		e.SNI = r.TLS.ServerName
	}
	return e
}

// present gives a pod's HTTPS server a certificate of the cluster's authority,
// for the pod's address and the name of any Service of its namespace.
func present(server *http.Server, p *pod) error {
	pair, err := p.authority.serving([]string{"*." + p.object.Load().Namespace + ".svc"}, p.address)
	if err != nil {
		return err
	}
	certificate, err := pair.tls()
	if err != nil {
		return err
	}
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return nil
}
