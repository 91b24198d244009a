package random

// What the machine of a test has otherwise than that of the records.
const (
	allProtocols = "pods that speak one protocol on each port: those of the test take HTTP where FastCGI is spoken"
	allPorts     = "pods that listen on their ports alone: those of the test answer on any"
	olderNginx   = "an nginx that joins headers of one name: that of Debian 12 gives the first one"
)

// waits are requests, "WORLD #NUMBER", that differ for no row of docs/differences.md, with what
// they wait for. All other requests of their worlds are compared. One that agrees has to leave
// the list, unless it waits for an nginx that some machines have.
var waits = map[string]string{
	"e-p-auth-down #0":    allPorts,
	"e-p-auth-headers #0": olderNginx,
	"rnd-11-48 #3":        allProtocols,
	"rnd-11-48 #4":        allProtocols,
	"rnd-11-48 #5":        allProtocols,
	"rnd-11-90 #15":       allProtocols,
	"rnd-11-90 #16":       allProtocols,
	"rnd-11-90 #18":       allProtocols,
	"rnd-11-90 #19":       allProtocols,
	"rnd-11-90 #20":       allProtocols,
	"rnd-11-90 #21":       allProtocols,
	"rnd-11-90 #22":       allProtocols,
	"rnd-11-90 #23":       allProtocols,
	"rnd-11-90 #24":       allProtocols,
	"rnd-11-90 #25":       allProtocols,
	"rnd-11-90 #26":       allProtocols,
}
