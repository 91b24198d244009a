package prometheus

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"sluice/test/kit"
)

// server is a Prometheus.
type server struct {
	t    *testing.T
	port int
	// deadline ends all waits for values: some need several scrapes and reloads.
	deadline time.Time
}

const patience = 40 * time.Second

// configuration has two targets with the labels that the operator gives them. %t is whether
// labels of metrics win over these.
const configuration = `
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: sluice-controller-metrics
  honor_labels: %t
  static_configs:
  - {targets: ["127.0.0.1:%d"], labels: {namespace: sluice, service: sluice-controller-metrics, pod: sluice-0}}
  - {targets: [%q], labels: {namespace: sluice, service: sluice-controller-metrics, pod: sluice-1}}
`

// scraping starts a Prometheus that asks a Sluice and another replica, until the test ends.
func scraping(t *testing.T, honor bool, s *kit.Sluice, replica string) *server {
	t.Helper()
	folder, p := t.TempDir(), &server{t: t, port: kit.Port(t), deadline: time.Now().Add(patience)}
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, honor, s.Healthz, replica), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program(t, "prometheus"), "--config.file", file, "--storage.tsdb.path", filepath.Join(folder, "data"),
		"--web.listen-address", fmt.Sprintf("127.0.0.1:%d", p.port), "--log.level", "warn")
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	log := kit.Log(filepath.Join(folder, "log"))
	process := kit.Start(t, command, log)
	t.Cleanup(func() { process.Stop(syscall.SIGTERM, kit.Patience) })
	kit.Await(t, "Prometheus", func() bool {
		if process.Ended() {
			t.Fatalf("prometheus ended: %v\n%.2000s", process.Err, log.Text(t))
		}
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/-/ready", p.port))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return p
}

// program returns the path of a program of Debian's package prometheus.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing: Debian's package prometheus has it (test/setup.sh --tests installs it): %v", name, err)
	}
	return path
}

// series is one of the result of a query.
type series struct {
	Metric map[string]string
	Value  [2]any
}

// number is the value, NaN if it cannot be told.
func (s series) number() float64 {
	text, _ := s.Value[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return value
}

// query returns the series with a value of an expression.
func (p *server) query(expr string) ([]series, error) {
	client := http.Client{Timeout: kit.RequestPatience}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/api/v1/query?query=%s", p.port, url.QueryEscape(expr)))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error string
		Data  struct{ Result []series }
	}
	if err := json.Unmarshal(content, &answer); err != nil || answer.Error != "" {
		return nil, fmt.Errorf("%s: %s %w", expr, answer.Error, err)
	}
	var found []series
	for _, s := range answer.Data.Result {
		if !math.IsNaN(s.number()) {
			found = append(found, s)
		}
	}
	return found, nil
}

// must waits until an expression has values that will do, and reports an error otherwise.
func (p *server) must(what, expr string, will func([]series) bool) {
	p.t.Helper()
	var found []series
	for ; ; time.Sleep(100 * time.Millisecond) {
		var err error
		if found, err = p.query(expr); err != nil {
			p.t.Errorf("%s: %v", what, err)
			return
		}
		if will(found) {
			return
		}
		if time.Now().After(p.deadline) {
			break
		}
	}
	p.t.Errorf("%s: no data of\n%s\n%v", what, expr, found)
}

// some reports whether there is a value.
func some(found []series) bool { return len(found) > 0 }
