package web

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
)

// sendOpenAPI answers with the description of the API.
func sendOpenAPI(c *call) error {
	doc := OpenAPI(Routes())
	doc["servers"] = []any{map[string]any{"url": c.inBase(apiRoot)}}
	return c.json(doc)
}

// OpenAPI returns the OpenAPI 3.1 document of the routes below the root of the API.
func OpenAPI(routes []*Route) map[string]any {
	s := &schemas{byName: map[string]any{}}
	paths := map[string]any{}
	for _, rt := range routes {
		if !rt.isAPI() {
			continue
		}
		path := strings.TrimPrefix(rt.Path, apiRoot)
		item, _ := paths[path].(map[string]any)
		if item == nil {
			item = map[string]any{}
			paths[path] = item
		}
		item[strings.ToLower(cmp.Or(rt.Method, http.MethodGet))] = s.operation(rt)
	}
	s.of(reflect.TypeFor[problem]())
	return map[string]any{
		"openapi":    "3.1.0",
		"info":       map[string]any{"title": "Hammr", "version": "1", "description": "Jobs, tasknodes, pools and masters of a Hammr cluster. Times are ms since 1970."},
		"paths":      paths,
		"security":   []any{map[string]any{"token": []any{}}, map[string]any{}},
		"components": map[string]any{"schemas": s.byName, "securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}},
	}
}

// operation describes a route.
func (s *schemas) operation(rt *Route) map[string]any {
	failed := map[string]any{"description": "an error", "content": content("application/problem+json", reference("problem"))}
	ok := map[string]any{"description": "done", "content": content("application/json", s.of(reflect.TypeOf(rt.Answer)))}
	if _, isFile := rt.Answer.([]byte); isFile {
		files := content("application/octet-stream", map[string]any{"type": "string", "format": "binary"})
		files["text/plain"] = map[string]any{"schema": map[string]any{"type": "string"}} // stacks
		ok["content"] = files
	}
	op := map[string]any{
		"summary": rt.Doc, "operationId": operationID(rt), "x-verb": string(rt.Verb),
		"responses": map[string]any{"200": ok, "default": failed},
	}
	parameters, form, required := []any{}, map[string]any{}, []any{}
	for _, p := range rt.Params {
		schema := schemaOf(&p)
		if rt.Method == http.MethodPost && !rt.inPath(p.Name) {
			schema["description"] = p.Doc
			form[p.Name] = schema
			if p.Required {
				required = append(required, p.Name)
			}
			continue
		}
		parameter := map[string]any{"name": p.Name, "in": "query", "required": p.Required, "description": p.Doc, "schema": schema}
		switch {
		case rt.inPath(p.Name):
			parameter["in"], parameter["required"] = "path", true
		case !p.Required:
			parameter["allowEmptyValue"] = true // it counts as absent, since forms send all their fields
		}
		parameters = append(parameters, parameter)
		if p.Name == "format" {
			kind := map[bool]string{true: "text/csv", false: "text/plain"}[slices.Contains(p.Enum, "csv")]
			ok["content"].(map[string]any)[kind] = map[string]any{"schema": map[string]any{"type": "string"}}
		}
	}
	op["parameters"] = parameters
	if len(form) > 0 {
		op["requestBody"] = map[string]any{"required": len(required) > 0, "content": content("application/x-www-form-urlencoded",
			map[string]any{"type": "object", "properties": form, "required": required, "additionalProperties": false})}
	}
	return op
}

// operationID makes a name of method and path, as getJobsJobTasks.
func operationID(rt *Route) string {
	words := strings.FieldsFunc(strings.TrimPrefix(rt.Path, apiRoot), func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	id := strings.ToLower(cmp.Or(rt.Method, http.MethodGet))
	for _, w := range words {
		id += strings.ToUpper(w[:1]) + w[1:]
	}
	return id
}

func content(mediaType string, schema any) map[string]any {
	return map[string]any{mediaType: map[string]any{"schema": schema}}
}

func reference(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// schemaOf describes the values of a parameter.
func schemaOf(p *docs.Param) map[string]any {
	schema := map[string]any{"type": "string"}
	switch {
	case p.Max > 0:
		least := 1
		if p.Zero {
			least = 0
		}
		schema = map[string]any{"type": "integer", "minimum": least, "maximum": p.Max}
	case p.Enum != nil && !p.List:
		schema["enum"] = p.Enum
	default:
		schema["maxLength"] = docs.MaxParam
	}
	if p.Default != "" && p.Max == 0 {
		schema["default"] = p.Default
	}
	return schema
}

// schemas has the schemas of named types.
type schemas struct{ byName map[string]any }

// of returns the schema of a type: a reference if the type is a struct.
func (s *schemas) of(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Struct:
		if s.byName[t.Name()] == nil {
			s.byName[t.Name()] = true // ends the recursion of a type that contains itself
			s.byName[t.Name()] = s.object(t)
		}
		return reference(t.Name())
	}
	return map[string]any{"type": "integer"}
}

// object describes the fields of a struct as package json encodes them.
func (s *schemas) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []any{}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if t.Field(i).Anonymous && name == "" { // its fields are those of the struct
			inner := s.object(t.Field(i).Type)
			maps.Copy(properties, inner["properties"].(map[string]any))
			required = append(required, inner["required"].([]any)...)
		}
		if name == "" || name == "-" {
			continue
		}
		properties[name] = s.of(t.Field(i).Type)
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
