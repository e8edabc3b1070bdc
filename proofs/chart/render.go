// Renders the chart as `helm template` does, with Go's own templates and the functions that Helm
// takes from Sprig: `render template NAME CHART [--set KEY=VALUE]… [-f FILE]…`. It stands in for Helm
// where that cannot be had; it has no dependencies, no files of a chart and no cluster to look into.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type object = map[string]interface{}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println("a stand-in for Helm")
		return
	}
	if len(os.Args) < 4 || os.Args[1] != "template" {
		fail("usage: render template NAME CHART [--set KEY=VALUE]… [-f FILE]…")
	}
	name, chart := os.Args[2], os.Args[3]
	values := read(filepath.Join(chart, "values.yaml"))
	for index := 4; index+1 < len(os.Args); index += 2 {
		if os.Args[index] == "-f" {
			merge(values, read(os.Args[index+1]))
			continue
		}
		key, value, _ := strings.Cut(os.Args[index+1], "=")
		set(values, strings.Split(key, "."), infer(value))
	}
	description := read(filepath.Join(chart, "Chart.yaml"))
	about := object{}
	for key, value := range description {
		about[strings.ToUpper(key[:1])+key[1:]] = value
	}
	top := object{
		"Values": values,
		"Chart":  about,
		"Release": object{
			"Name": name, "Namespace": "default", "Service": "Helm", "Revision": 1,
			"IsInstall": true, "IsUpgrade": false,
		},
		"Capabilities": object{"KubeVersion": object{"Version": "v1.31.0"}},
	}
	render(chart, about["Name"].(string), top)
}

// Numbers become floats on their way through JSON, as in Helm: a large one prints as 1e+06.
func read(path string) object {
	content, err := os.ReadFile(path)
	check(err)
	var parsed interface{}
	check(yaml.Unmarshal(content, &parsed))
	text, err := json.Marshal(parsed)
	check(err)
	result := object{}
	check(json.Unmarshal(text, &result))
	return result
}

func merge(values, more object) {
	for key, value := range more {
		inner, isObject := value.(object)
		before, wasObject := values[key].(object)
		if isObject && wasObject {
			merge(before, inner)
		} else {
			values[key] = value
		}
	}
}

func set(values object, path []string, value interface{}) {
	for _, step := range path[:len(path)-1] {
		inner, ok := values[step].(object)
		if !ok {
			inner = object{}
			values[step] = inner
		}
		values = inner
	}
	values[path[len(path)-1]] = value
}

func infer(text string) interface{} {
	switch text {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if number, err := strconv.ParseInt(text, 10, 64); err == nil && (text == "0" || text[0] != '0') {
		return number
	}
	return text
}

func toYaml(value interface{}) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	check(encoder.Encode(value))
	return strings.TrimSuffix(out.String(), "\n")
}

func render(chart, name string, top object) {
	root := template.New("root").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["include"] = func(part string, data interface{}) (string, error) {
		var out strings.Builder
		err := root.ExecuteTemplate(&out, part, data)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	functions["lookup"] = func(_, _, _, _ string) object { return object{} }
	root.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		check(err)
		_, err = root.New(placeOf(name, path)).Parse(string(content))
		check(err)
	}
	var all strings.Builder
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "_") {
			continue
		}
		var out strings.Builder
		scope := object{"Template": object{"Name": placeOf(name, path), "BasePath": name + "/templates"}}
		for key, value := range top {
			scope[key] = value
		}
		check(root.ExecuteTemplate(&out, placeOf(name, path), scope))
		text := strings.ReplaceAll(out.String(), "<no value>", "")
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", placeOf(name, path), text)
		}
	}
	fmt.Print(all.String())
}

func placeOf(name, path string) string {
	return name + "/templates/" + filepath.Base(path)
}

func check(err error) {
	if err != nil {
		fail("Error: " + err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
