package bench

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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

// target is whom clients ask, and how.
type target struct {
	port    int
	host    string
	headers []string // "Name: value"
	// script is a file of wrk that makes the requests instead, empty for none.
	script string
	// tls is nil for plain HTTP.
	tls *tls.Config
}

// plainTarget is a host without a behaviour.
func plainTarget(port int) target { return target{port: port, host: trafficHost} }

func (t target) address() string { return fmt.Sprintf("127.0.0.1:%d", t.port) }

func (t target) dial() (net.Conn, error) {
	if t.tls == nil {
		return net.Dial("tcp4", t.address())
	}
	return tls.Dial("tcp4", t.address(), t.tls)
}

// request is one over a kept connection.
func (t target) request() []byte {
	return []byte("GET /api/x HTTP/1.1\r\n" + strings.Join(append([]string{"Host: " + t.host}, t.headers...), "\r\n") + "\r\n\r\n")
}

// clientName says who asks: wrk where it is installed, which leaves more of the
// processor to nginx, or clients in this process.
func clientName() string {
	if _, err := exec.LookPath("wrk"); err == nil {
		return "wrk"
	}
	return "Go"
}

// clients asks a target for a while and gives the number of requests that were
// answered. It fails if one was not answered with 200.
func clients(b *testing.B, to target, during time.Duration) int {
	b.Helper()
	if clientName() == "wrk" && to.tls == nil {
		return wrk(b, to, during)
	}
	return goClients(b, to, during)
}

var (
	wrkRequests = regexp.MustCompile(`(?m)^\s*(\d+) requests in`)
	wrkFailures = regexp.MustCompile(`(?m)^\s*(Non-2xx.*|Socket errors.*)$`)
)

func wrk(b *testing.B, to target, during time.Duration) int {
	b.Helper()
	arguments := []string{"-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", int(during.Seconds())), "-H", "Host: " + to.host}
	for _, header := range to.headers {
		arguments = append(arguments, "-H", header)
	}
	if to.script != "" {
		arguments = append(arguments, "-s", to.script)
	}
	command := exec.Command("wrk", append(arguments, "http://"+to.address()+"/api/x")...)
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
		b.Fatalf("wrk: %s at %d: %s\n%s", to.host, to.port, failed, output.String())
	}
	requests, err := strconv.Atoi(found[1])
	if err != nil {
		b.Fatal(err)
	}
	return requests
}

func goClients(b *testing.B, to target, during time.Duration) int {
	b.Helper()
	var requests atomic.Int64
	var all sync.WaitGroup
	failures := make(chan error, connections)
	for range connections {
		all.Go(func() {
			if err := askAgain(to, time.Now().Add(during), &requests); err != nil {
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
func askAgain(to target, until time.Time, requests *atomic.Int64) error {
	request := to.request()
	for time.Now().Before(until) {
		conn, err := to.dial()
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
