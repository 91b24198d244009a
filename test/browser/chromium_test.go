package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sluice/test/kit"
)

// page is the page in a browser.
type page struct {
	*scene
	ctx context.Context

	mu sync.Mutex
	// asked are the URLs of all requests, and said what a developer would see in the console.
	asked, said []string
}

// chromium returns the path of a Chromium.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no Chromium: `make setup-test` installs Debian's chromium-headless-shell")
	return ""
}

// visit opens the page in a browser of its own, which knows no host but 127.0.0.1.
func visit(t *testing.T, s *scene) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.WindowSize(1280, 800))
	for _, flag := range []string{"disable-gpu", "disable-quic", "disable-component-update"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	options = append(options, chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, _ := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	p := &page{scene: s, ctx: ctx}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.do(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), chromedp.Navigate(s.address))
	return p
}

// command is a command of the protocol without a result.
func command[P, R any](c cdp.Command[P, R], parameters P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, parameters)
		return err
	})
}

// hear keeps requests and what the console says.
func (p *page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.asked = append(p.asked, e.Request.Method+" "+e.Request.URL)
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, fmt.Sprint("console: ", e.Type))
	case *log.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text+" "+e.Entry.URL)
	}
}

// do runs actions, for kit.Patience at most.
func (p *page) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	run(t, p, chromedp.Steps(actions...))
}

// run runs an action, for kit.Patience at most, and returns its value.
func run[T any](t *testing.T, p *page, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, kit.Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// press presses keys, one after the other. The text of a key comes with its keydown event, as
// from a keyboard: a page that handles the event gets no text.
func (p *page) press(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range strings.Join(keys, "") {
		var steps []chromedp.Action[chromedp.Void]
		text := ""
		for _, event := range slices.Backward(kb.Encode(key)) {
			if event.Type == kb.KeyChar {
				text = event.Text
				continue
			}
			if event.Type == kb.KeyDown {
				event.Text = text
			}
			steps = append([]chromedp.Action[chromedp.Void]{command(input.DispatchKeyEvent, *event)}, steps...)
		}
		p.do(t, steps...)
	}
}

// value is that of an expression.
func value[T any](t *testing.T, p *page, expression string) T {
	t.Helper()
	return run(t, p, chromedp.Evaluate[T](expression))
}

// text is the shown text of an element.
func (p *page) text(t *testing.T, id string) string {
	t.Helper()
	return value[string](t, p, fmt.Sprintf(`document.getElementById(%q).innerText`, id))
}

// shows waits until an element has all these texts.
func (p *page) shows(t *testing.T, id string, texts ...string) {
	t.Helper()
	got := ""
	defer func() {
		if t.Failed() {
			t.Logf("%s has the text\n%s", id, got)
		}
	}()
	kit.Await(t, fmt.Sprintf("%q in %s", texts, id), func() bool {
		p.quiet(t)
		got = p.text(t, id)
		for _, text := range texts {
			if !strings.Contains(got, text) {
				return false
			}
		}
		return true
	})
}

// quiet fails the test if the console has something.
func (p *page) quiet(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		t.Fatalf("the console has %q", p.said)
	}
}

// search writes in the box, in place of what it has, and leaves it.
func (p *page) search(t *testing.T, text string) {
	t.Helper()
	p.press(t, kb.Escape, "/", kb.Backspace, text, kb.Escape)
}

// look sets the width and the colours.
func (p *page) look(t *testing.T, width int64, colours string) {
	t.Helper()
	p.do(t, chromedp.EmulateViewport(width, 800), command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}}))
}

// picture writes a picture of the window into the folder of SLUICE_PICTURES, if that is set.
func (p *page) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("SLUICE_PICTURES")
	if folder == "" {
		return
	}
	png := run(t, p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}
