package docs

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// firstBalancer is the address of the first load balancer. Every address of
// 10.255.0.0/16 is this machine's own, inside of the tests' network namespace.
const firstBalancer = "10.255.80."

// A name of a load balancer, as those of AWS have names in place of addresses, and
// what curl takes any name of this kind for, without asking a name server.
const (
	balancerName  = "balancer.localhost"
	namedBalancer = "127.0.0.1"
)

// Balancers are the load balancers of a cluster: as that of a cloud does, they
// give each Service of the type LoadBalancer an address or a name, and pass what comes
// there on to the Controllers that the Service selects.
type Balancers struct {
	controllers *Controllers
	named       bool // the one that there is has a name
	mu          sync.Mutex
	addresses   map[string]string          // by the Service's namespace and name
	selectors   map[string]labels.Selector // those that the Services have now
	listeners   []net.Listener
}

// NewBalancers look for Services until the context is done. If they are named, there
// can be only one.
func NewBalancers(ctx context.Context, controllers *Controllers, named bool) *Balancers {
	b := &Balancers{controllers: controllers, named: named, addresses: map[string]string{}, selectors: map[string]labels.Selector{}}
	go func() {
		for ctx.Err() == nil {
			if err := b.look(ctx); err != nil && ctx.Err() == nil {
				log.Printf("load balancers: %v", err)
			}
			time.Sleep(pause)
		}
		b.close()
	}()
	return b
}

func (b *Balancers) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.listeners {
		l.Close()
	}
}

func (b *Balancers) look(ctx context.Context) error {
	services := b.controllers.cluster.Admin().CoreV1()
	all, err := services.Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, s := range all.Items {
		if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		b.mu.Lock()
		b.selectors[s.Namespace+"/"+s.Name] = labels.SelectorFromSet(s.Spec.Selector)
		b.mu.Unlock()
		if len(s.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		address, err := b.open(&s)
		if err != nil {
			return err
		}
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{b.reachedAt(address)}
		if _, err := services.Services(s.Namespace).UpdateStatus(ctx, &s, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// reachedAt is what a Service is told of the load balancer at an address.
func (b *Balancers) reachedAt(address string) corev1.LoadBalancerIngress {
	if b.named {
		return corev1.LoadBalancerIngress{Hostname: balancerName}
	}
	return corev1.LoadBalancerIngress{IP: address}
}

// open listens on the ports of a Service at an address of its own, once.
func (b *Balancers) open(service *corev1.Service) (address string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := service.Namespace + "/" + service.Name
	if address, ok := b.addresses[name]; ok {
		return address, nil
	}
	address = firstBalancer + strconv.Itoa(len(b.addresses)+1)
	if b.named {
		address = namedBalancer
	}
	for _, port := range service.Spec.Ports {
		if port.Protocol != corev1.ProtocolTCP {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(int(port.Port))))
		if err != nil {
			return "", err
		}
		b.listeners = append(b.listeners, listener)
		go b.serve(listener, name, port.TargetPort.String())
	}
	b.addresses[name] = address
	return address, nil
}

func (b *Balancers) serve(listener net.Listener, service, port string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			if err := b.pass(client, service, port); err != nil {
				log.Printf("load balancer %s: %v", listener.Addr(), err)
			}
		}()
	}
}

// pass passes a connection on to one of the pods of a Service, as bytes.
func (b *Balancers) pass(client net.Conn, service, port string) error {
	b.mu.Lock()
	selected := b.selectors[service]
	b.mu.Unlock()
	at, ok := b.controllers.port(selected, port)
	if !ok {
		return fmt.Errorf("no pod of %s has a port %s", selected, port)
	}
	server, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(at)))
	if err != nil {
		return err
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(client, server)
	return err
}
