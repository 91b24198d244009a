package e2e

import (
	"fmt"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"sluice/test/kit"
)

// chat is a backend that answers each WebSocket message with itself.
func chat(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(websocket.Server{Handler: func(connection *websocket.Conn) {
		var text string
		for websocket.Message.Receive(connection, &text) == nil {
			if websocket.Message.Send(connection, text) != nil {
				return
			}
		}
	}})
	t.Cleanup(server.Close)
	return server
}

// dialChat opens a WebSocket through sluice.
func (s *sluice) dialChat(host string) (*websocket.Conn, error) {
	config, err := websocket.NewConfig("ws://"+host+"/", "http://"+host)
	if err != nil {
		return nil, err
	}
	raw, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP), kit.RequestPatience)
	if err != nil {
		return nil, err
	}
	_ = raw.SetDeadline(time.Now().Add(kit.Patience))
	return websocket.NewClient(config, raw)
}

func exchange(connection *websocket.Conn, text string) error {
	if err := websocket.Message.Send(connection, text); err != nil {
		return err
	}
	var answer string
	if err := websocket.Message.Receive(connection, &answer); err != nil {
		return err
	}
	if answer != text {
		return fmt.Errorf("want %q, got %q", text, answer)
	}
	return nil
}

// openChat opens a WebSocket that works.
func (s *sluice) openChat() (connection *websocket.Conn) {
	s.t.Helper()
	eventually(s.t, "a WebSocket", func() bool {
		var err error
		if connection, err = s.dialChat("chat.example"); err != nil {
			return false
		}
		s.t.Cleanup(func() { connection.Close() })
		return exchange(connection, "hello") == nil
	})
	return connection
}

// TestWebSocketsLiveThroughReloads: an open WebSocket goes on through reloads
// until worker-shutdown-timeout drains it.
func TestWebSocketsLiveThroughReloads(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "chat.yaml": service("chat", chat(t)),
			"settings.yaml": settings(),
			"a.yaml":        ingress("a", "chat.example", []string{"/ Prefix chat"}),
		}, "--configmap", "default/config")
		const reloads = 5
		before, patient, opened := s.reloads(), s.openChat(), time.Now()
		for i := range reloads {
			path := fmt.Sprintf("/v%d", i)
			s.write("b.yaml", ingress("b", "b.example", []string{path + " Prefix web"}))
			s.waitBackend("http://b.example"+path, "web")
			if err := exchange(patient, path); err != nil {
				t.Fatalf("the WebSocket broke at reload %d, %s after it was opened: %v", i+1, time.Since(opened), err)
			}
		}
		// The workers that are started from now on drain their connections.
		s.write("settings.yaml", settings("worker-shutdown-timeout: 6s"))
		eventually(t, "a reload with the setting", func() bool { return s.reloads() > before+reloads })
		drained, opened := s.openChat(), time.Now()
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		eventually(t, "the WebSocket to be drained", func() bool { return exchange(drained, "still there") != nil })
		if lived := time.Since(opened); lived < 5*time.Second {
			t.Errorf("drained after %s already", lived)
		}
		if err := exchange(patient, "still there"); err != nil {
			t.Errorf("the WebSocket of a worker with the usual time was drained: %v", err)
		}
		patient.Close() // the end of sluice would wait for it
	})
}

// TestOldestWorkersEndForWantOfMemory: connections that never end do not pile
// workers up. There is no room for a second generation that drains, so that the
// first is ended when there would be one.
func TestOldestWorkersEndForWantOfMemory(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "chat.yaml": service("chat", chat(t)),
			"a.yaml": ingress("a", "chat.example", []string{"/ Prefix chat"}),
		}, "--drain-memory", "1")
		var open []*websocket.Conn
		for i := range 3 {
			open = append(open, s.openChat())
			path := fmt.Sprintf("/v%d", i)
			reloads := len(s.lines("reload=true"))
			s.write("b.yaml", ingress("b", "b.example", []string{path + " Prefix web"}))
			s.waitBackend("http://b.example"+path, "web")
			eventually(t, "the old workers to accept no more, as the next WebSocket is not to be theirs", func() bool { return len(s.lines("reload=true")) > reloads })
			for j, connection := range open[:i] {
				if exchange(connection, "still there") == nil {
					t.Errorf("WebSocket %d lives on after reload %d", j, i+1)
				}
			}
			if err := exchange(open[i], "still there"); err != nil {
				t.Errorf("the newest WebSocket broke at reload %d: %v", i+1, err)
			}
		}
		if ends := s.lines("draining workers use too much memory"); len(ends) != 2 {
			t.Errorf("want a line for each of the 2 generations that were ended:\n%s", ends)
		}
	})
}
