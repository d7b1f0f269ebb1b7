// Package config reads what an operator decides for every run: the SANDBOX_*
// environment variables and the configuration file that SANDBOX_CONFIG names.
//
// A flag beats an environment variable, and a variable beats the file. The file
// is YAML: a flat mapping whose keys are the variables' names in lower case
// without SANDBOX_, so that SANDBOX_TIMEOUT_SEC=10 is
//
//	timeout_sec: 10
//
// A value that does not parse is an error that names where it stands, what was
// written and what is expected. An unknown key in the file is an error too; an
// unknown variable is only a warning, and only when it is nearly a known one,
// because other tools own the prefix as well.
package config
