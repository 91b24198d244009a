package chart
import ("testing";"os";"sluice/test/chart/rendering")
func TestTry(t *testing.T) {
	values := ""
	if f := os.Getenv("VALUES"); f != "" { b,_ := os.ReadFile(f); values = string(b) }
	r, err := rendering.Default().Render(values)
	if err != nil { t.Fatal(err) }
	t.Log("\n"+r.Manifests+"\n=====\n"+r.Notes)
	t.Log(rendering.Lint(map[string]any{}))
}
