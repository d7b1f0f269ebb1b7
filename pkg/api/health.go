package api

// Health is the answer of GET /health.
type Health struct {
	// Status is ok, or draining while the server shuts down.
	Status  string `json:"status" enum:"ok,draining"`
	Version string `json:"version"`
	// Capacity is how many runs go on at a time, Load how many do now, and
	// Queued how many wait for a place.
	Capacity int `json:"capacity"`
	Load     int `json:"load"`
	Queued   int `json:"queued"`
	// MemoryCapacityMB is what the memory limits of all runs may add up to, and
	// MemoryGrantedMB what they do now.
	MemoryCapacityMB int64   `json:"memory_capacity_mb"`
	MemoryGrantedMB  int64   `json:"memory_granted_mb"`
	UptimeSeconds    float64 `json:"uptime_seconds"`
	// Runtimes maps a runtime to its strongest isolation level.
	Runtimes map[string]string `json:"runtimes"`
	// Languages maps a language to the version that runs by default.
	Languages map[string]string `json:"languages"`
	// Warm maps what is prepared ahead to how much of it is ready.
	Warm map[string]int `json:"warm"`
}

// Languages is the answer of GET /v1/languages.
type Languages struct {
	Languages []Language `json:"languages"`
}

// Language is what the server knows of one language.
type Language struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Aliases    []string `json:"aliases"`
	Extensions []string `json:"extensions"`
	Available  bool     `json:"available"`
	// Versions are the installed ones, the default first.
	Versions []string `json:"versions"`
	// Reason says why there are none, and Install how to get one.
	Reason  string `json:"reason,omitempty"`
	Install string `json:"install,omitempty"`
}
