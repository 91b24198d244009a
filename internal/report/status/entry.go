package status

type entry struct{}
