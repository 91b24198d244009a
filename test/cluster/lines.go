package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
)

// lineServer sends each line back, after the pod's name.
type lineServer struct {
	listener net.Listener
	greeting string
	serving  sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool
	shut bool
}

func (s *lineServer) serve() {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return
		}
		if !s.enter(connection) {
			connection.Close()
			return
		}
		go s.answer(connection)
	}
}

// enter counts a connection in, unless the server was closed meanwhile.
func (s *lineServer) enter(connection net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return false
	}
	s.open[connection] = true
	s.serving.Add(1)
	return true
}

func (s *lineServer) answer(connection net.Conn) {
	defer s.serving.Done()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, connection)
	}()
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		if _, err := fmt.Fprintf(connection, "%s %s\n", s.greeting, lines.Text()); err != nil {
			return
		}
	}
}

// drain listens no more, and waits until the clients have gone or the context is
// done.
func (s *lineServer) drain(ctx context.Context) {
	s.shutOut()
	idle := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	s.close()
}

// shutOut listens no more.
func (s *lineServer) shutOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	s.listener.Close()
}

// close cuts everything off.
func (s *lineServer) close() {
	s.shutOut()
	s.mu.Lock()
	defer s.mu.Unlock()
	for connection := range s.open {
		connection.Close()
	}
}
