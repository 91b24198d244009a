package tokens

import (
	"bytes"
	"errors"
	"fmt"
	"text/template"
	"text/template/parse"
)

// SnippetTemplate is the text of a named snippet: a template with the parameters as its
// fields. Its values cannot be printed but by a printer.
type SnippetTemplate struct {
	compiled *template.Template
}

// PrinterOfWords prints a value in a snippet where it is a whole token, and within a word.
const PrinterOfWords = ""

// ParseSnippet compiles a snippet. printers are the printers of its parameters by name.
func ParseSnippet(text string, printerOf map[string]string) (*SnippetTemplate, error) {
	const name = "snippet"
	functions := template.FuncMap{"part": Printers()["part"], "word": Printers()["word"]}
	for _, printer := range printerOf {
		if printer != PrinterOfWords {
			functions[printer] = Printers()[printer]
		}
	}
	compiled, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	if len(compiled.Templates()) != 1 {
		return nil, errors.New("want no {{ define }} and no {{ block }}")
	}
	if err := choosePrinters(compiled.Tree, compiled.Tree.Root, printerOf); err != nil {
		return nil, err
	}
	if err := NewWalker(map[string]*parse.Tree{name: compiled.Tree}).WalkRoot(name, NewNode("")); err != nil {
		return nil, err
	}
	return &SnippetTemplate{compiled}, nil
}

// Fill executes a snippet with the values of its parameters.
func (s *SnippetTemplate) Fill(values map[string]any) (string, error) {
	var out bytes.Buffer
	if err := s.compiled.Execute(&out, values); err != nil {
		return "", errors.New(TemplateFault(err))
	}
	return out.String(), nil
}

// choosePrinters gives each value of a list the printer of its parameter. Only values of
// parameters can be printed.
func choosePrinters(tree *parse.Tree, list *parse.ListNode, printerOf map[string]string) error {
	if list == nil {
		return nil
	}
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
			continue
		case *parse.ActionNode:
			if err := choosePrinter(n, printerOf); err != nil {
				return failure(tree, n, err.Error())
			}
			continue
		case *parse.IfNode:
			branch = &n.BranchNode
		default:
			return failure(tree, n, "want only {{ .parameter }} and {{ if .parameter }}")
		}
		if _, err := parameterOf(branch.Pipe, printerOf); err != nil {
			return failure(tree, n, err.Error())
		}
		if err := errors.Join(choosePrinters(tree, branch.List, printerOf), choosePrinters(tree, branch.ElseList, printerOf)); err != nil {
			return err
		}
	}
	return nil
}

func choosePrinter(n *parse.ActionNode, printerOf map[string]string) error {
	name, err := parameterOf(n.Pipe, printerOf)
	if err == nil && printerOf[name] != PrinterOfWords {
		pass(n.Pipe, printerOf[name])
	}
	return err
}

// parameterOf returns the parameter that a pipeline consists of.
func parameterOf(pipe *parse.PipeNode, printerOf map[string]string) (string, error) {
	if len(pipe.Decl) == 0 && len(pipe.Cmds) == 1 && len(pipe.Cmds[0].Args) == 1 {
		if field, ok := pipe.Cmds[0].Args[0].(*parse.FieldNode); ok && len(field.Ident) == 1 {
			if _, known := printerOf[field.Ident[0]]; known {
				return field.Ident[0], nil
			}
			return "", fmt.Errorf("%s is no parameter of the snippet", field.Ident[0])
		}
	}
	return "", fmt.Errorf("want only {{ .parameter }} and {{ if .parameter }} (got %s)", pipe)
}
