package ports

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
)

func TestPortsAreGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range blockSize + 50 { // of more than one block
		port := Take(t)
		if given[port] || port < lowest || port >= lowest+count {
			t.Errorf("port %d after %d others", port, len(given))
		}
		given[port] = true
	}
}

func TestPortInUseIsPassedOver(t *testing.T) {
	Take(t)
	for _, network := range []string{"tcp", "udp"} {
		taken.Lock()
		used := taken.next
		taken.Unlock()
		var closer interface{ Close() error }
		var err error
		if address := fmt.Sprintf("127.0.0.1:%d", used); network == "tcp" {
			closer, err = net.Listen(network, address)
		} else {
			closer, err = net.ListenPacket(network, address)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := Take(t); got == used {
			t.Errorf("port %d was given, on which somebody listens by %s", got, network)
		}
		closer.Close()
	}
}

// asChild makes this test binary print ports until its standard input ends.
const asChild = "SLUICE_TEST_PORTS_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	t := &testing.T{}
	for range blockSize + 50 {
		fmt.Println(Take(t))
	}
	fmt.Println()
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// Processes that run at the same time get different ports.
func TestProcessesGetDifferentPorts(t *testing.T) {
	given := map[int]int{}
	const processes = 4
	for i := range processes {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), asChild+"=1")
		input, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		output, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			input.Close()
			if err := command.Wait(); err != nil {
				t.Error(err)
			}
		})
		for lines := bufio.NewScanner(output); lines.Scan() && lines.Text() != ""; {
			var port int
			if _, err := fmt.Sscan(lines.Text(), &port); err != nil {
				t.Fatal(err)
			}
			if other, ok := given[port]; ok {
				t.Errorf("port %d was given to process %d and to process %d", port, other, i)
			}
			given[port] = i
		}
	}
	if want := processes * (blockSize + 50); len(given) != want {
		t.Errorf("%d ports were given to %d processes: want %d", len(given), processes, want)
	}
}
