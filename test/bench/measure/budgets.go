package measure

// Sizes are the numbers of Ingresses that the budgets are for.
var Sizes = []int{100, 1_000, 5_000, 10_000}

// What is measured at each size, wherever the objects come from, by the names
// that figures and peers have in common.
const (
	Start            = "start to every host served"
	Add              = "one more Ingress served"
	Endpoints        = "endpoints effective"
	Processor        = "CPU of all"
	PeakOfAll        = "peak memory of all"
	PeakOfController = "peak memory of the controller"
	ConfSize         = "nginx.conf"
	Parse            = "nginx -t"
)

// Budgets are those of one size, in seconds and MB; 0 is none.
type Budgets struct {
	Start, Add, Endpoints, CPU, Memory, Controller, Conf float64
}

// BudgetOf gives the budgets of a size.
var BudgetOf = map[int]Budgets{
	100:    {Start: 0.5, Add: 0.12, Endpoints: 0.1, CPU: 2, Memory: 100, Controller: 50, Conf: 0.13},
	1_000:  {Start: 1, Add: 0.3, Endpoints: 0.1, CPU: 10, Memory: 250, Controller: 90, Conf: 1.3},
	5_000:  {Start: 3, Add: 1.2, Endpoints: 0.1, CPU: 60, Memory: 900, Controller: 250, Conf: 6.5},
	10_000: {Start: 6, Add: 2.5, Endpoints: 0.1, Conf: 13},
}
