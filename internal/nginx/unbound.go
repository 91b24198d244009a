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

// unboundPattern matches nginx's message for such a port at the start of a line;
// elsewhere it may be a value of a user. The address can be IPv6.
var unboundPattern = regexp.MustCompile(`(?m)^(?:nginx: \[emerg\] |[0-9/]+ [0-9:]+ \[emerg\] \d+#\d+: )?bind\(\) to \S+:(\d+) failed \((\d+): `)

// UnboundPorts returns the ports that nginx could not listen on, each once, from the
// error of a Test or an Apply. It skips addresses that do not belong to this machine:
// those are mistakes in the settings.
func UnboundPorts(err error) []UnboundPort {
	var test *TestError
	var reload *ReloadError
	text := ""
	switch {
	case errors.As(err, &reload):
		text = reload.severe
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
