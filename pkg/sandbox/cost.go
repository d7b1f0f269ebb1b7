package sandbox

// Priced is implemented by containers that somebody takes money for.
type Priced interface {
	// Cost estimates what the container has cost so far, and is false where that
	// cannot be told.
	Cost() (Cost, bool)
}

// Cost is what a container has cost.
type Cost struct {
	// Seconds is how long it has lived, CPUs and MemoryBytes how large it is.
	Seconds     float64
	CPUs        float64
	MemoryBytes int64
	// Amount is in the currency of the configured prices.
	Amount float64
}
