package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"clew/internal/checking"
	"clew/internal/store"
	_ "clew/internal/types"
	"clew/models"
)

// listed is what clew.js has for the page of docs/try.
type listed struct {
	Wasm     []byte         `json:"wasm"`   // clew.wasm, compressed by gzip
	Worker   string         `json:"worker"` // a script
	Models   []listedModel  `json:"models"`
	Flags    []string       `json:"flags"` // those of clew check that say how to read and to search
	Own      string         `json:"own"`   // a model in Starlark to begin with
	Examples []listedSample `json:"examples"`
}

type listedModel struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// listedSample is an example: what the page's form says, and its name in links.
type listedSample struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Model   string `json:"model"`
	Options string `json:"options"`
	History string `json:"history"`
}

// buildPage builds the page: its sources, and clew.js beside them.
func buildPage(to string) error {
	parts, err := os.MkdirTemp("", "clew-page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parts)
	if err := build(parts, programs[:1]); err != nil {
		return err
	}
	l := &listed{Flags: slices.Concat(store.SettingNames, checking.SearchNames)}
	l.Flags = slices.DeleteFunc(l.Flags, func(name string) bool { return name == "model-file" }) // the page's editor has it
	for _, d := range models.All() {
		l.Models = append(l.Models, listedModel{d.Name, d.About})
	}
	if err := l.addClew(parts); err != nil {
		return err
	}
	if err := l.addExamples(); err != nil {
		return err
	}
	said, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, from := range []string{"docs/try/index.html", "docs/try/style.css", "docs/try/page.js", "LICENSE", filepath.Join(parts, thirdParty)} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(from)), text, 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(to, "clew.js"), slices.Concat([]byte("globalThis.clew = "), said, []byte(";\n")), 0o666)
}

// asScript makes a script of a module. The worker of a page that is a file cannot be a module.
var asScript = strings.NewReplacer("import \"./wasm_exec.js\";\n", "", "\nexport ", "\n", "import.meta.url", "location.href")

// addClew adds the program and its worker, in one text: what loads Go's programs, the package for JavaScript, and the page's
// own part.
func (l *listed) addClew(parts string) error {
	program, err := os.ReadFile(filepath.Join(parts, "clew.wasm"))
	if err != nil {
		return err
	}
	if l.Wasm, err = compressed(program); err != nil {
		return err
	}
	for _, file := range []string{filepath.Join(parts, "wasm_exec.js"), filepath.Join("packages", "js", "index.js"), filepath.Join("docs", "try", "worker.js")} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		l.Worker += asScript.Replace(string(text))
	}
	return nil
}

func compressed(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

var (
	// anExample matches an example of docs/models.md: its verdict, flags and history, and the model and the number of its link.
	anExample = regexp.MustCompile("(?m)^([A-Z][a-z ]+)(?:, with `([^`]+)`)?:\n\n```\n((?:[^`].*\n)+)```\n\n\\[.+\\]\\(try/index\\.html#(.+)-(\\d+)\\)$")
	// ownModel and ownHistory match the first model of docs/own-models.md, and the history that it checks.
	ownModel   = regexp.MustCompile("(?s)```python\n(.*?)```")
	ownHistory = regexp.MustCompile("(?s)```clojure\n(.*?)```")
)

// addExamples adds those of the documentation.
func (l *listed) addExamples() error {
	text, err := os.ReadFile(filepath.Join("docs", "models.md"))
	if err != nil {
		return err
	}
	for _, x := range anExample.FindAllStringSubmatch(string(text), -1) {
		title := strings.ToLower(x[1])
		if x[2] != "" {
			title += ", with " + x[2]
		}
		l.Examples = append(l.Examples, listedSample{Name: x[4] + "-" + x[5], Title: title, Model: x[4], Options: x[2], History: x[3]})
	}
	if text, err = os.ReadFile(filepath.Join("docs", "own-models.md")); err != nil {
		return err
	}
	model, history := ownModel.FindSubmatch(text), ownHistory.FindSubmatch(text)
	if model == nil || history == nil || len(l.Examples) < len(l.Models) {
		return fmt.Errorf("expected examples in docs/models.md, a model and a history in docs/own-models.md; found %d examples, %t and %t",
			len(l.Examples), model != nil, history != nil)
	}
	l.Own = string(model[1])
	l.Examples = append(l.Examples, listedSample{Name: "own", Title: "a counter", Model: "own", History: string(history[1])})
	return nil
}
