package daemon

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// settings are flags for the variables of the configuration, as kong wants them: fields of a
// structure, made of the variables' list.
type settings struct {
	variables []config.Variable
	values    reflect.Value // a pointer to the structure
}

func newSettings() settings {
	var s settings
	var fields []reflect.StructField
	for _, v := range config.Variables() {
		if v.Secret() {
			continue // everybody on the machine may read a command line
		}
		s.variables = append(s.variables, v)
		fields = append(fields, reflect.StructField{
			Name: "F" + v.Name, Type: reflect.TypeFor[*string](),
			Tag: reflect.StructTag(fmt.Sprintf(`name:%q placeholder:"VALUE" group:"Settings, each a variable as well (--port is SANDBOX_PORT), which it beats:" help:%q`,
				strings.ReplaceAll(v.Key(), "_", "-"), v.Help)),
		})
	}
	s.values = reflect.New(reflect.StructOf(fields))
	return s
}

// environ are the settings of the command line as variables.
func (s settings) environ() (list []string) {
	for i, v := range s.variables {
		if value := s.values.Elem().Field(i); !value.IsNil() {
			list = append(list, v.Name+"="+value.Elem().String())
		}
	}
	return list
}
