package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// schema is docs/api.schema.json, as far as that goes: types, constants, enumerations, properties, items, choices and
// references. A word that it does not know is an error, so that no rule is passed over.
type schema struct{ defs map[string]any }

func readSchema(t *testing.T) *schema {
	t.Helper()
	text, err := os.ReadFile("../docs/api.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return &schema{all["$defs"].(map[string]any)}
}

// fits returns why a text does not fit a definition, or nil.
func (s *schema) fits(def string, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return s.check(s.defs[def].(map[string]any), v, def)
}

func (s *schema) check(rule map[string]any, v any, at string) error {
	for _, word := range slices.Sorted(maps.Keys(rule)) {
		var err error
		switch of := rule[word]; word {
		case "description", "title", "additionalProperties":
		case "$ref":
			name := strings.TrimPrefix(of.(string), "#/$defs/")
			def, ok := s.defs[name].(map[string]any)
			if !ok {
				return fmt.Errorf("%s: there is no %s", at, name)
			}
			err = s.check(def, v, at)
		case "const":
			err = among([]any{of}, v)
		case "enum":
			err = among(of.([]any), v)
		case "type":
			err = typed(of, v)
		case "minimum":
			if n, is := v.(float64); is && n < of.(float64) {
				err = fmt.Errorf("%v is less than %v", v, of)
			}
		case "oneOf":
			err = s.choose(of.([]any), v, at)
		case "required":
			for _, name := range of.([]any) {
				if object, is := v.(map[string]any); is && err == nil {
					if _, has := object[name.(string)]; !has {
						err = fmt.Errorf("%s is missing", name)
					}
				}
			}
		case "properties":
			err = s.object(rule, v, at)
		case "items":
			if list, is := v.([]any); is {
				for i, x := range list {
					if err == nil {
						err = s.check(of.(map[string]any), x, fmt.Sprintf("%s[%d]", at, i))
					}
				}
			}
		default:
			err = fmt.Errorf("the schema has the word %s, which this test does not know", word)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	if _, also := rule["properties"]; !also {
		return s.object(rule, v, at)
	}
	return nil
}

func among(all []any, v any) error {
	if !slices.Contains(all, v) {
		return fmt.Errorf("%v is none of %v", v, all)
	}
	return nil
}

func typed(of, v any) error {
	names, several := of.([]any)
	if !several {
		names = []any{of}
	}
	is := map[string]bool{}
	switch x := v.(type) {
	case nil:
		is["null"] = true
	case bool:
		is["boolean"] = true
	case string:
		is["string"] = true
	case float64:
		is["number"], is["integer"] = true, x == math.Trunc(x)
	case []any:
		is["array"] = true
	case map[string]any:
		is["object"] = true
	}
	if !slices.ContainsFunc(names, func(name any) bool { return is[name.(string)] }) {
		return fmt.Errorf("%v is not of type %v", v, of)
	}
	return nil
}

func (s *schema) choose(rules []any, v any, at string) error {
	var fit int
	var why []string
	for _, rule := range rules {
		if err := s.check(rule.(map[string]any), v, at); err != nil {
			why = append(why, err.Error())
			continue
		}
		fit++
	}
	if fit != 1 {
		return fmt.Errorf("it fits %d of %d choices: %s", fit, len(rules), strings.Join(why, "; "))
	}
	return nil
}

// object checks the properties of an object. additionalProperties is about those that have no rule.
func (s *schema) object(rule map[string]any, v any, at string) error {
	object, is := v.(map[string]any)
	if !is {
		return nil
	}
	rules, _ := rule["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		of, known := rules[name]
		if !known {
			of = rule["additionalProperties"]
		}
		switch of := of.(type) {
		case map[string]any:
			if err := s.check(of, object[name], at+"."+name); err != nil {
				return err
			}
		case bool:
			return fmt.Errorf("%s.%s is not known", at, name)
		}
	}
	return nil
}
