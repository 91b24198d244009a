package nginx

import (
	"errors"
	"regexp"
	"strconv"
	"syscall"
)

// UnboundPort is a port that nginx could not listen on.
type UnboundPort struct {
	Port  int
	Errno syscall.Errno // EADDRINUSE or EACCES
}

// unboundPattern is what nginx says of each, at the start of a line: elsewhere it
// may be what a user wrote. The address may be IPv6.
var unboundPattern = regexp.MustCompile(`(?m)^(?:nginx: \[emerg\] |[0-9/]+ [0-9:]+ \[emerg\] \d+#\d+: )?bind\(\) to \S+:(\d+) failed \((\d+): `)

// UnboundPorts gives the ports that nginx could not listen on, each once, of the
// error of a Test or an Apply. Of addresses that are not of this machine it says
// nothing: those are the settings' mistake, and no port's.
func UnboundPorts(err error) []UnboundPort {
	var test *TestError
	var reload *ReloadError
	text := ""
	switch {
	case errors.As(err, &reload):
		text = reload.said
	case errors.As(err, &test):
		text = test.Raw
	}
	var ports []UnboundPort
	seen := map[int]bool{}
	for _, match := range unboundPattern.FindAllStringSubmatch(text, -1) {
		port, _ := strconv.Atoi(match[1])
		number, _ := strconv.Atoi(match[2])
		if errno := syscall.Errno(number); !seen[port] && (errno == syscall.EADDRINUSE || errno == syscall.EACCES) {
			seen[port] = true
			ports = append(ports, UnboundPort{port, errno})
		}
	}
	return ports
}
