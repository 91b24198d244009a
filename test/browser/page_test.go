package browser

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sluice/test/kit"
)

// TestPage goes through the page as a user does. At the end, nothing has run that is not the
// page's own, and no request went elsewhere.
func TestPage(t *testing.T) {
	p := visit(t, newScene(t))
	for _, part := range []struct {
		name string
		test func(*testing.T, *page)
	}{
		{"sections", sections}, {"searches", searches}, {"pages", pages}, {"keys", keysDo}, {"explains", explains},
		{"hostile texts", hostileTexts}, {"an address of its state", addressOfState}, {"widths and colours", widthsAndColours}, {"a pod that goes", podGoes},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, p) }) {
			break // the next part begins where this one ends
		}
	}
	p.quiet(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, request := range p.asked {
		if !strings.HasPrefix(request, "GET "+p.address) {
			t.Errorf("it sends %s", request)
		}
	}
	if len(p.asked) < 50 {
		t.Errorf("only %d requests were seen", len(p.asked))
	}
}

// sections are chosen by digits, and each has its table.
func sections(t *testing.T, p *page) {
	p.shows(t, "state", "sluice/sluice-controller-0", "10000")
	p.press(t, "1")
	p.shows(t, "rows", "app-0.example", "shop/web/80", "shop/app-0")
	p.shows(t, "count", "1–100 of 20,001")
	p.press(t, "2")
	p.shows(t, "rows", "Ingress shop/odd", "proxy-connect-timeout")
	p.press(t, "3")
	p.shows(t, "rows", "shop/cart", "4d")
	if mark := value[string](t, p, `document.querySelector('#rows td:nth-child(4) span').className`); mark != "warn short" {
		t.Errorf("a certificate that expires soon is marked %q", mark)
	}
	p.press(t, "4")
	p.shows(t, "rows", "shop-web-80", "127.0.0.1:9,127.0.0.2:9")
	p.press(t, "5")
	p.shows(t, "rows", "start", "loaded")
	p.press(t, "6")
	p.shows(t, "rows", "worker_processes", "sluice")
	p.press(t, "7")
	p.shows(t, "heading", "REQUESTS/S", "P99")
	stop := p.requests(t)
	p.shows(t, "rows", "app-1", "100.0%")
	stop()
}

// requests sends requests for an Ingress until stop is called. Its endpoints refuse them.
func (p *page) requests(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() {
		for ctx.Err() == nil {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/a", p.HTTP), http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			request.Host = "app-1.example"
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
			}
			time.Sleep(20 * time.Millisecond) // some fifty a second
		}
	})
	return func() { cancel(); sending.Wait() }
}

// first is the text of the first row.
const first = `document.querySelector('#rows tr')?.innerText ?? ''`

// timed is the time from the last key that is pressed in the search box until a row is shown whose
// text has a word, in milliseconds.
const timed = `new Promise((done) => {
  let pressed = 0;
  document.addEventListener('keydown', () => { pressed = performance.now(); }, { capture: true });
  window.timed = new Promise((done) => {
    const rows = document.getElementById('rows');
    const look = new MutationObserver(() => {
      if (!(rows.firstChild?.textContent ?? '').includes(%q)) return;
      look.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - pressed)));
    });
    look.observe(rows, { childList: true });
  });
  done(true);
})`

// searches: words of any column, in any case, among 10,000 Ingresses without a wait that is felt.
func searches(t *testing.T, p *page) {
	for _, section := range []struct{ key, search, shown, count string }{
		{"1", "APP-9876.example prefix", "app-9876.example", "1–2 of 2 (of 20,001)"},
		{"6", "ingress shop/app-9876 location", "app-9876", "Ingress shop/app-9876"},
	} {
		p.press(t, kb.Escape, section.key)
		p.shows(t, "count", "1–100 of")
		run(t, p, chromedp.Evaluate[bool](fmt.Sprintf(timed, section.shown), chromedp.EvalAwaitPromise))
		p.press(t, "/")
		p.press(t, section.search)
		took := run(t, p, chromedp.Evaluate[float64]("window.timed", chromedp.EvalAwaitPromise))
		t.Logf("%d Ingresses, %q: %.0f ms from the last key to the shown row", many, section.search, took)
		if most := 10_000.0; took > most {
			t.Errorf("%q takes %.0f ms, at most %.0f", section.search, took, most)
		}
		if section.key == "1" {
			p.shows(t, "count", section.count)
		} else {
			p.shows(t, "rows", section.count)
		}
		p.press(t, kb.Escape)
	}
	p.press(t, "1")
	p.search(t, "nowhere")
	p.shows(t, "count", "None of 20,001 has these words")
	p.press(t, kb.Escape)
	p.search(t, "")
}

// pages are turned with n and p, and no row is on two of them.
func pages(t *testing.T, p *page) {
	p.search(t, "app-98")
	p.shows(t, "count", "1–100 of 222")
	p.press(t, kb.Escape)
	before := value[string](t, p, first)
	p.press(t, "n")
	p.shows(t, "count", "101–200 of 222")
	if value[string](t, p, first) == before {
		t.Error("the next page has the same rows")
	}
	p.press(t, "n")
	p.shows(t, "count", "201–222 of 222")
	if !value[bool](t, p, `document.getElementById('next').disabled`) {
		t.Error("there is a page after the last one")
	}
	p.press(t, "n", "p", "p", "p")
	p.shows(t, "count", "1–100 of 222")
	if now := value[string](t, p, first); now != before {
		t.Errorf("the first page begins with %q, before with %q", now, before)
	}
	p.search(t, "app-5 APP-55.")
	p.shows(t, "count", "1–2 of 2")
}

const active = `document.activeElement.id || document.activeElement.tagName`

// keysDo: everything can be reached without a mouse.
func keysDo(t *testing.T, p *page) {
	p.press(t, kb.Escape, "1")
	p.shows(t, "rows", "app-55.example")
	p.press(t, kb.ArrowRight)
	p.shows(t, "caption", "Problems")
	p.press(t, kb.ArrowLeft, kb.ArrowLeft)
	p.shows(t, "caption", "Rates")
	p.press(t, "4")
	p.shows(t, "rows", "shop-web-80")
	p.press(t, kb.ArrowDown)
	if got := value[string](t, p, active); got != "TR" {
		t.Errorf("after ArrowDown the focus is on %s", got)
	}
	p.press(t, kb.Enter)
	p.shows(t, "details", "shop/web/80", "round_robin")
	if !value[bool](t, p, `document.getElementById('details').open`) {
		t.Error("Enter does not open the row")
	}
	p.picture(t, "details")
	p.press(t, kb.Escape)
	kit.Await(t, "the end of the details", func() bool { return !value[bool](t, p, `document.getElementById('details').open`) })
	if value[string](t, p, active) != "TR" {
		t.Error("Escape does not lead back to the row")
	}
	p.press(t, "?")
	p.shows(t, "keys", "next and previous page")
	p.picture(t, "keys")
	p.press(t, "1") // the keys of the page rest
	p.press(t, kb.Escape)
	kit.Await(t, "the end of the keys", func() bool { return !value[bool](t, p, `document.getElementById('keys').open`) })
	p.shows(t, "caption", "Backends")
	p.press(t, "/")
	if got := value[string](t, p, active); got != "query" {
		t.Errorf("after / the focus is on %s", got)
	}
	p.press(t, kb.Escape, "e")
	if got := value[string](t, p, active); got != "url" {
		t.Errorf("after e the focus is on %s", got)
	}
	for _, id := range value[[]string](t, p, `[...document.querySelectorAll('button, input, select')].filter((e) => !e.innerText && !e.ariaLabel && !e.labels?.length).map((e) => e.id)`) {
		t.Errorf("%s has no name", id)
	}
}

// explains: a URL that is written, one of a row, and one that is none.
func explains(t *testing.T, p *page) {
	p.press(t, kb.Escape, "e")
	p.press(t, "https://cart.example/cart/7")
	p.press(t, kb.Enter)
	p.shows(t, "text", "Ingress shop/cart", "Prefix /cart", "cors")
	p.picture(t, "explain")
	p.press(t, kb.Escape)
	p.search(t, "app-55.example")
	p.shows(t, "count", "of 2 (of")
	p.press(t, kb.Escape, kb.ArrowDown, kb.Enter)
	p.shows(t, "text", "Ingress shop/app-55")
	if got := value[string](t, p, `document.getElementById('url').value`); got != "https://app-55.example/a" {
		t.Errorf("the URL of the row is %s", got)
	}
	p.do(t, chromedp.SetValue(chromedp.CSS("#url"), "ftp://a/"))
	p.press(t, "e", kb.Enter)
	p.shows(t, "text", "want http://host/path")
	p.press(t, kb.Escape, kb.Escape)
	if !value[bool](t, p, `document.getElementById('answer').hidden`) {
		t.Error("Escape does not close the explanation")
	}
}

// hostileTexts are shown, and nothing of them runs.
func hostileTexts(t *testing.T, p *page) {
	for key, search := range map[string]string{"1": "odd.example", "2": "odd", "6": "odd.example"} {
		p.press(t, kb.Escape, key)
		p.search(t, search)
		p.shows(t, "rows", "onerror=window.ran=1")
		p.press(t, kb.Escape)
		p.picture(t, "hostile-"+key)
	}
	p.press(t, kb.ArrowLeft) // Reloads
	p.press(t, "1", kb.ArrowDown, kb.Enter)
	p.shows(t, "text", hostile)
	for _, search := range []string{hostile, "'\"><script>window.ran=1</script>"} {
		p.press(t, kb.Escape)
		p.search(t, search)
		p.shows(t, "count", "of 20,001")
	}
	if n := value[int](t, p, `document.querySelectorAll('#panel img, #panel script, dialog img').length`); n != 0 {
		t.Errorf("%d elements came from texts", n)
	}
	if ran := value[string](t, p, `String(window.ran)`); ran != "undefined" {
		t.Errorf("a text has run: %s", ran)
	}
	p.search(t, "")
	p.press(t, kb.Escape)
}

// addressOfState: the address leads back to a section, a search and a page.
func addressOfState(t *testing.T, p *page) {
	p.press(t, "1")
	p.search(t, "app-98")
	p.shows(t, "count", "1–100 of 222")
	p.press(t, kb.Escape, "n")
	p.shows(t, "count", "101–200 of 222")
	p.do(t, chromedp.Reload())
	p.shows(t, "count", "101–200 of 222")
	if got := value[string](t, p, `document.getElementById('query').value`); got != "app-98" {
		t.Errorf("after a reload the search is %q", got)
	}
	p.search(t, "")
	p.press(t, kb.Escape)
}

// widthsAndColours: nothing is wider than the window, and the colours are those that are preferred.
func widthsAndColours(t *testing.T, p *page) {
	stop := p.requests(t)
	defer stop()
	grounds := map[string]bool{}
	for _, colours := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 400} {
			p.look(t, width, colours)
			for i, section := range []string{"routes", "problems", "certificates", "backends", "reloads", "conf", "rates"} {
				p.press(t, fmt.Sprint(i+1))
				p.shows(t, "count", "1–")
				p.shows(t, "rows", "")
				p.picture(t, fmt.Sprintf("%s-%s-%d", section, colours, width))
				if wide := value[int64](t, p, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s at %d pixels is %d wide", section, width, wide)
				}
			}
		}
		grounds[value[string](t, p, `getComputedStyle(document.body).backgroundColor`)] = true
	}
	if len(grounds) != 2 {
		t.Errorf("light and dark have the grounds %v", grounds)
	}
	p.look(t, 1280, "light")
}

// podGoes: that the pod is gone is said beside the rows that were there, until it is back.
func podGoes(t *testing.T, p *page) {
	p.press(t, "4")
	p.shows(t, "rows", "shop-web-80")
	write(t, p.gone, "")
	p.shows(t, "error", "sluice-controller-0\" not found")
	p.shows(t, "rows", "shop-web-80")
	p.picture(t, "gone")
	p.press(t, "6")
	p.search(t, "listen")
	p.shows(t, "error", "not found")
	if err := os.Remove(p.gone); err != nil {
		t.Fatal(err)
	}
	kit.Await(t, "the pod is back", func() bool { return value[bool](t, p, `document.getElementById('error').hidden`) })
	p.shows(t, "rows", "listen")
}
