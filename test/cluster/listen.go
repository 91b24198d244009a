package cluster

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// listeners are what a pod listens with, on its own address only.
type listeners struct {
	web []*http.Server
	tcp []*lineServer
	udp []net.PacketConn
}

// listen opens every port of the pod's containers. What is spoken there is said
// by protocol and name: UDP; TCP by lines for a port whose name begins with
// "tcp"; HTTPS for "https"; and else HTTP/1.1, and HTTP/2 for who begins with
// it. A port with the name "webhook" is left to the program that stands for the
// container, as are all ports of a pod with UnheardAnnotation.
func listen(p *pod) (*listeners, error) {
	l := &listeners{}
	if p.object.Load().Annotations[UnheardAnnotation] == "true" {
		return l, nil
	}
	for _, container := range p.object.Load().Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "webhook" {
				continue
			}
			if err := l.open(p, port); err != nil {
				l.close()
				return nil, err
			}
		}
	}
	return l, nil
}

func (l *listeners) open(p *pod, port corev1.ContainerPort) error {
	at := net.JoinHostPort(p.address, strconv.Itoa(int(port.ContainerPort)))
	if port.Protocol == corev1.ProtocolUDP {
		connection, err := net.ListenPacket("udp", at)
		if err != nil {
			return err
		}
		l.udp = append(l.udp, connection)
		go answerPackets(connection, p.name())
		return nil
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	if strings.HasPrefix(port.Name, "tcp") {
		s := &lineServer{listener: listener, greeting: p.name(), open: map[net.Conn]bool{}}
		l.tcp = append(l.tcp, s)
		go s.serve()
		return nil
	}
	server := webServer(p)
	l.web = append(l.web, server)
	if !strings.HasPrefix(port.Name, "https") {
		go server.Serve(listener)
		return nil
	}
	if err := present(server, p); err != nil {
		listener.Close()
		return err
	}
	go server.ServeTLS(listener, "", "")
	return nil
}

// webServer answers HTTP/1.1 and, where a client begins with it, HTTP/2.
func webServer(p *pod) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{Handler: p.echo(), Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 1 << 20}
}

// drain listens no more, and waits until what was begun is finished or the
// context is done; what then goes on is cut off.
func (l *listeners) drain(ctx context.Context) {
	var draining sync.WaitGroup
	for _, server := range l.web {
		draining.Go(func() { _ = server.Shutdown(ctx) })
	}
	for _, server := range l.tcp {
		draining.Go(func() { server.drain(ctx) })
	}
	draining.Wait()
	l.close()
}

// close cuts everything off. It may be called again.
func (l *listeners) close() {
	for _, server := range l.web {
		server.Close()
	}
	for _, server := range l.tcp {
		server.close()
	}
	for _, connection := range l.udp {
		connection.Close()
	}
}

// answerPackets sends each packet back, after the pod's name.
func answerPackets(connection net.PacketConn, name string) {
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := connection.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = connection.WriteTo(append([]byte(name+" "), buffer[:n]...), from)
		}
	}
}
