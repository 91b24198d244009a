package requests

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"sluice/test/kit"
)

// followed sends a request that is answered after early hints, and another one on the same connection.
// It returns whether each gets an answer.
func (w *world) followed(t *testing.T) string {
	t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.port))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	answers, told := bufio.NewReader(connection), ""
	patience := kit.RequestPatience
	for _, want := range []string{"hints", "nothing"} {
		_, _ = fmt.Fprintf(connection, "GET /a/x HTTP/1.1\r\nHost: %s\r\nWant: %s\r\n\r\n", host(nil), want)
		_ = connection.SetReadDeadline(time.Now().Add(patience))
		answer, err := http.ReadResponse(answers, nil)
		for err == nil && answer.StatusCode == http.StatusEarlyHints {
			answer, err = http.ReadResponse(answers, nil)
		}
		if err != nil {
			return told + "no answer to " + want
		}
		told += fmt.Sprint(answer.StatusCode, " to ", want, ", ")
		if _, err := answers.Discard(int(answer.ContentLength)); err != nil {
			return told + "a part of its body"
		}
		patience = 3 * time.Second // it comes at once, or never
	}
	return told
}
