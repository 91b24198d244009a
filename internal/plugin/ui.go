package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

const uiExample = `  # Print the address of the page, and serve it until Ctrl-C
  kubectl sluice ui

  # On a port of your choice, which an ssh -L can forward
  kubectl sluice ui --port 8100`

func uiCommand(s *session) *cobra.Command {
	var port uint16
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Serve a page to look at, for a browser on this machine",
		Long: "Serve a page that shows routes, Problems, certificates, backends, reloads, nginx.conf and the rates of requests. It only reads.\n\n" +
			"The page is served on 127.0.0.1 of this machine, until you press Ctrl-C, to those who know the printed address: it has a random\n" +
			"token, so keep it to yourself. The plugin asks the controller as its other commands do. Nothing listens in the pod.",
		Example: uiExample,
		Args:    noMore,
	}
	pods := s.podFlags(cmd)
	cmd.Flags().Uint16Var(&port, "port", 0, "port on 127.0.0.1; 0 for any that is free")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		a := &asker{session: s, pods: pods}
		if err := a.choose(cmd); err != nil {
			return err
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		if err != nil {
			return fmt.Errorf("--port: %w", err)
		}
		u := newUI(cmd.Context(), a, listener.Addr().String(), rand.Text())
		fmt.Fprintf(s.streams.Out, "%s\n", u.address())
		s.note("Open this address in a browser of this machine. Ctrl-C ends it.")
		return serveUI(cmd.Context(), listener, u.handler())
	}
	return cmd
}

// The limits of the server. An answer may wait for the controller.
const (
	uiReadTimeout  = 5 * time.Second
	uiWriteTimeout = patience + 10*time.Second
	uiMostHeader   = 16 << 10
)

// serveUI serves until ctx ends.
func serveUI(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadTimeout: uiReadTimeout, WriteTimeout: uiWriteTimeout, MaxHeaderBytes: uiMostHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
