package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// connections is how many clients keep a connection open and ask over it again
// and again.
const connections = 32

// trafficHost is the host that all ask for.
var trafficHost = measure.Host(trafficHosts / 2)

// clientName says who asks: wrk where it is installed, which leaves more of the
// processor to nginx, or clients in this process.
func clientName() string {
	if _, err := exec.LookPath("wrk"); err == nil {
		return "wrk"
	}
	return "Go"
}

// clients loads a port for a while and gives the number of requests that were
// answered. It fails if one was not answered with 200.
func clients(b *testing.B, port int, during time.Duration) int {
	b.Helper()
	if clientName() == "wrk" {
		return wrk(b, port, during)
	}
	return goClients(b, port, during)
}

var (
	wrkRequests = regexp.MustCompile(`(?m)^\s*(\d+) requests in`)
	wrkFailures = regexp.MustCompile(`(?m)^\s*(Non-2xx.*|Socket errors.*)$`)
)

func wrk(b *testing.B, port int, during time.Duration) int {
	b.Helper()
	command := exec.Command("wrk", "-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", int(during.Seconds())),
		"-H", "Host: "+trafficHost, fmt.Sprintf("http://127.0.0.1:%d/api/x", port))
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	if runtime.NumCPU() > 1 {
		measure.Pin(command.Process.Pid, 1)
	}
	defer stopAfter(command.Process.Pid, during+10*time.Second).Stop()
	if err := command.Wait(); err != nil {
		b.Fatalf("wrk: %v\n%s", err, output.String())
	}
	found := wrkRequests.FindStringSubmatch(output.String())
	if failed := wrkFailures.FindString(output.String()); failed != "" || found == nil {
		b.Fatalf("wrk: %s\n%s", failed, output.String())
	}
	requests, err := strconv.Atoi(found[1])
	if err != nil {
		b.Fatal(err)
	}
	return requests
}

func goClients(b *testing.B, port int, during time.Duration) int {
	b.Helper()
	var requests atomic.Int64
	var all sync.WaitGroup
	failures := make(chan error, connections)
	for range connections {
		all.Go(func() {
			if err := askAgain(port, time.Now().Add(during), &requests); err != nil {
				failures <- err
			}
		})
	}
	all.Wait()
	select {
	case err := <-failures:
		b.Fatal(err)
	default:
	}
	return int(requests.Load())
}

// askAgain sends requests over one connection until the time is over. A
// connection that nginx closed after its usual number of requests is replaced.
func askAgain(port int, until time.Time, requests *atomic.Int64) error {
	request := []byte("GET /api/x HTTP/1.1\r\nHost: " + trafficHost + "\r\n\r\n")
	for time.Now().Before(until) {
		conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		_ = conn.SetDeadline(until.Add(5 * time.Second))
		reader := bufio.NewReader(conn)
		for open := true; open && time.Now().Before(until); {
			open, err = roundTrip(conn, reader, request)
			if err != nil {
				conn.Close()
				return err
			}
			requests.Add(1)
		}
		conn.Close()
	}
	return nil
}

// roundTrip sends a request and reads its answer. open is false if the server
// is going to close the connection.
func roundTrip(conn io.Writer, reader *bufio.Reader, request []byte) (open bool, err error) {
	if _, err := conn.Write(request); err != nil {
		return false, err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return false, err
	}
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("status %d", response.StatusCode)
	}
	return !response.Close, nil
}
