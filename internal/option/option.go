// Package option names the options of clew in messages. The library calls an option by the Go field that sets it. A
// program whose options are flags calls AsFlags, once, before anything else; then all messages name flags.
package option

import "fmt"

// Option is an option as messages name it: by its field, or by its flag.
type Option struct{ Field, Flag string }

func (o Option) String() string {
	if asFlags {
		return o.Flag
	}
	return o.Field
}

var asFlags bool

// AsFlags makes all messages of the process name flags.
func AsFlags() { asFlags = true }

// The options that messages name, other than the parameters of models, which name themselves.
var (
	AllClients  = Option{"jepsen.Options.AllClients", "--clients all"}
	ClockError  = Option{"jepsen.Options.ClockError", "--clock-error"}
	Consistency = Option{"Options.Consistency", "--consistency"}
	Independent = Option{"Options.Independent", "--independent"}
	Whole       = Option{"Options.Whole", "--independent=false"}
	Keyless     = Option{"Options.Keyless", "--keyless every"}
	Knossos     = Option{"Spec.Knossos", "--semantics knossos"}
	ModelFile   = Option{"the setting model-file", "--model-file"}
	Check       = Option{"clew.Check", "clew check"}
	Verify      = Option{"Options.Verify", "--verify"}
	Follow      = Option{"clew.Follow", "--follow"}
	Witness     = Option{"Result.Witness", "--witness"}
	Evidence    = Option{"StoreOptions.Evidence", "--evidence"}
	Pages       = Option{"StoreOptions.Pages", "--html-dir"}
	PageStyle   = Option{"StoreOptions.PageStyle", "--html-style"}
	Output      = Option{"the form of a report", "--output"}
	Core        = Option{"Result.WriteCore", "--core FILE"}
	Shard       = Option{"StoreOptions.ShardTo", "clew check --shard"}
	Given       = Option{"options", "flags"}
	WitnessFile = Option{"Result.WriteWitness", "clew check --witness FILE"}
)

// Setting returns the option of a setting of which text gives the value.
func Setting(name string) Option { return Option{"the setting " + name, "--" + name} }

// Either reports whether the value of a setting is the second of two. Any other value is an error.
func Either(setting, value, first, second string) (bool, error) {
	if value != first && value != second {
		return false, fmt.Errorf("%s must be %s or %s, not %q", Setting(setting), first, second, value)
	}
	return value == second, nil
}
