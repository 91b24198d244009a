package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/websocket"
)

func TestAnswerSaysWhatCameIn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Handler("catalog"))
	defer server.Close()
	resp, err := http.Get(server.URL + "/a%2Fb//c?status=418&x=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got Answer
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 418 || got.Service != "catalog" || got.Path != "/a%2Fb//c" || got.Query != "status=418&x=1" {
		t.Errorf("status %d, answer %+v", resp.StatusCode, got)
	}
}

func TestSocketSendsBack(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Handler("catalog"))
	defer server.Close()
	socket, err := websocket.Dial(strings.Replace(server.URL, "http", "ws", 1)+"/ws", "", "http://catalog.example")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var got string
	if err := websocket.Message.Send(socket, "ping"); err != nil {
		t.Fatal(err)
	}
	if err := websocket.Message.Receive(socket, &got); err != nil || got != "ping" {
		t.Errorf("received %q, %v", got, err)
	}
}

func TestListenFlag(t *testing.T) {
	t.Parallel()
	var listeners listenFlag
	if err := listeners.Set("127.0.0.1:9001"); err == nil {
		t.Error("an address without a name was taken")
	}
	if err := listeners.Set("127.0.0.1:9001=catalog"); err != nil || listeners[0] != (listener{"127.0.0.1:9001", "catalog"}) {
		t.Errorf("got %v, %v", listeners, err)
	}
}
