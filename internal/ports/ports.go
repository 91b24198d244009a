// Package ports checks whether the ports for nginx are free.
package ports

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"sluice/internal/model"
)

// Port is a port for nginx, with the flag that sets it.
type Port struct {
	Flag   string
	Number int
}

// Try listens on a port for a moment. It returns the error, if there is one.
func Try(protocol model.Protocol, port int) error {
	var listener interface{ Close() error }
	var err error
	if address := net.JoinHostPort("", strconv.Itoa(port)); protocol == model.UDP {
		listener, err = net.ListenPacket("udp", address)
	} else {
		listener, err = net.Listen("tcp", address)
	}
	if err != nil {
		return err
	}
	return listener.Close()
}

// Check returns an error for the first port on which nginx cannot listen. nginx itself
// would report it only after the reload into the first real file.
func Check(ports []Port) error {
	for _, port := range ports {
		switch err := Try(model.TCP, port.Number); {
		case errors.Is(err, syscall.EADDRINUSE):
			return fmt.Errorf("--%s: port %d is in use by another process: stop it or choose another port", port.Flag, port.Number)
		case errors.Is(err, syscall.EACCES):
			return fmt.Errorf("--%s: no permission to listen on port %d: choose a port above 1023 or grant NET_BIND_SERVICE", port.Flag, port.Number)
		case err != nil:
			return fmt.Errorf("--%s: port %d: %w", port.Flag, port.Number, err)
		}
	}
	return nil
}

// Blocked reports whether an error of Try is about the port. Other errors, such as a
// missing address family, may not affect nginx.
func Blocked(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)
}
