package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// kubeletPort is where the API server reaches a node, at the node's address.
const kubeletPort = 10250

// A stream that says nothing for so long is closed, and so is one whose client
// does not ask for what it announced.
const (
	kubeletIdle     = 10 * time.Minute
	kubeletCreation = 30 * time.Second
)

// kubelet answers for one node what the API server asks a kubelet for pods/exec,
// pods/portforward and pods/log. The protocols are those of the kubelet's own
// library. Commands and logs are those of the programs that tests have bound to
// containers (Bind); ports are those of the pod's address.
type kubelet struct {
	nodes  *nodes
	node   node
	server *http.Server
}

// startKubelet listens at a node's address. Only whom the cluster's authority
// vouches for is answered, as by a kubelet without webhooks.
func startKubelet(n *nodes, one node) (*kubelet, error) {
	pair, err := n.authority.serving([]string{one.name}, one.address)
	if err != nil {
		return nil, err
	}
	certificate, err := pair.tls()
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AddCert(n.authority.certificate)
	listener, err := tls.Listen("tcp", net.JoinHostPort(one.address, strconv.Itoa(kubeletPort)), &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"http/1.1"}, // SPDY and WebSocket are upgrades of it
	})
	if err != nil {
		return nil, err
	}
	k := &kubelet{nodes: n, node: one}
	k.server = &http.Server{Handler: k.routes(), ErrorLog: n.log, ReadHeaderTimeout: kubeletCreation}
	n.running.Go(func() { _ = k.server.Serve(listener) })
	return k, nil
}

func (k *kubelet) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("/exec/{namespace}/{pod}/{container}", k.exec)
	routes.HandleFunc("/portForward/{namespace}/{pod}", k.forward)
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	return routes
}

// exec runs a command beside the program of a container.
func (k *kubelet) exec(w http.ResponseWriter, r *http.Request) {
	_, bound, ok := k.program(w, r)
	if !ok {
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	command := r.URL.Query()["command"]
	if len(command) == 0 {
		http.Error(w, "you must specify a command", http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, executor{k.nodes, bound}, r.PathValue("pod"), "", r.PathValue("container"), command, options,
		kubeletIdle, kubeletCreation, remotecommand.SupportedStreamingProtocols)
}

// forward passes connections on to the ports of a pod.
func (k *kubelet) forward(w http.ResponseWriter, r *http.Request) {
	p, ok := k.pod(w, r)
	if !ok {
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	at := func(port int32) string {
		return k.nodes.listensAt(r.PathValue("namespace"), r.PathValue("pod"), p.address, port)
	}
	portforward.ServePortForward(w, r, forwarder{at}, r.PathValue("pod"), "", options, kubeletIdle, kubeletCreation, portforward.SupportedProtocols)
}

// logs gives what the program of a container has printed.
func (k *kubelet) logs(w http.ResponseWriter, r *http.Request) {
	_, bound, ok := k.program(w, r)
	if !ok {
		return
	}
	options, err := readLogOptions(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if options.Previous {
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", r.PathValue("container"), r.PathValue("pod")), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	bound.book.write(r.Context(), w, options)
}

// pod gives the pod of a request if it is on this node; else it is answered.
func (k *kubelet) pod(w http.ResponseWriter, r *http.Request) (*pod, bool) {
	namespace, name := r.PathValue("namespace"), r.PathValue("pod")
	if p := k.nodes.find(namespace, name); p != nil && p.host == k.node {
		return p, true
	}
	http.Error(w, fmt.Sprintf("pod %q not found in namespace %q", name, namespace), http.StatusNotFound)
	return nil, false
}

// program gives what is bound to the container of a request; else it is
// answered.
func (k *kubelet) program(w http.ResponseWriter, r *http.Request) (*pod, *bound, bool) {
	p, ok := k.pod(w, r)
	if !ok {
		return nil, nil, false
	}
	name := r.PathValue("container")
	if !p.has(name) {
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", name, r.PathValue("pod")), http.StatusNotFound)
		return nil, nil, false
	}
	if bound := k.nodes.boundTo(containerKey{r.PathValue("namespace"), r.PathValue("pod"), name}); bound != nil {
		return p, bound, true
	}
	http.Error(w, fmt.Sprintf("container %q of pod %q is a stand-in: no test has bound a program to it (Cluster.Bind does)", name, p.name()), http.StatusInternalServerError)
	return nil, nil, false
}

// has says whether a pod has a container of a name.
func (p *pod) has(container string) bool {
	for _, one := range p.object.Load().Spec.Containers {
		if one.Name == container {
			return true
		}
	}
	return false
}

// find gives a pod by its name, nil if none of the nodes runs it.
func (n *nodes) find(namespace, name string) *pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if object := p.object.Load(); object.Namespace == namespace && object.Name == name {
			return p
		}
	}
	return nil
}

// endpoints say at which port the node's kubelet is.
func (k *kubelet) endpoints() corev1.NodeDaemonEndpoints {
	return corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubeletPort}}
}
