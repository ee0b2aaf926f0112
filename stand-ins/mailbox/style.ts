// The stylesheet of the mailbox: light and dark, wide and narrow, without external resources.
export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f7, #14171b);
  --sheet: light-dark(#ffffff, #1c2026);
  --line: light-dark(#e0e3e8, #2d333b);
  --ink: light-dark(#1b1f24, #e6e9ee);
  --soft: light-dark(#5b6470, #98a2b0);
  --accent: light-dark(#0b6e63, #5ecdbd);
  --tint: light-dark(#e3f3f0, #1f3a37);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
}
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
header {
  position: sticky; top: 0; z-index: 1; height: 56px; padding: 0 20px;
  display: flex; align-items: center; gap: 14px;
  background: var(--sheet); border-bottom: 1px solid var(--line);
}
.name { color: var(--ink); font-weight: 650; font-size: 17px; text-decoration: none; }
.count { color: var(--soft); margin-right: auto; white-space: nowrap; }
.news, .samples { white-space: nowrap; }
button {
  min-height: 34px; padding: 0 14px; font: inherit; cursor: pointer; white-space: nowrap;
  color: var(--ink); background: var(--sheet); border: 1px solid var(--line); border-radius: 8px;
}
button:hover:enabled { border-color: var(--soft); }
button:disabled { color: var(--soft); cursor: default; opacity: 0.6; }
main { display: grid; grid-template-columns: 380px minmax(0, 1fr); align-items: start; }
nav {
  position: sticky; top: 56px; height: calc(100vh - 56px); overflow-y: auto;
  background: var(--sheet); border-right: 1px solid var(--line);
}
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { border-bottom: 1px solid var(--line); }
nav li a { display: block; padding: 12px 20px; color: inherit; text-decoration: none; }
nav li a:hover { background: var(--ground); }
nav li a[aria-current] { background: var(--tint); box-shadow: inset 3px 0 var(--accent); }
nav li a:focus-visible { outline-offset: -2px; }
.row { display: flex; gap: 10px; align-items: baseline; justify-content: space-between; }
.row b, .row .to { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row b { font-weight: 600; }
.to, time { color: var(--soft); font-size: 13px; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.kind {
  flex: none; padding: 1px 8px; border-radius: 999px; font-size: 12px;
  color: var(--accent); background: var(--tint);
}
nav a[aria-current] .kind { background: var(--sheet); }
.empty { margin: 0; padding: 48px 24px; color: var(--soft); text-align: center; }
article { padding: 28px 32px 48px; max-width: 920px; }
.back { display: none; }
h1 { margin: 0 0 14px; font-size: 22px; line-height: 1.3; overflow-wrap: anywhere; }
h2 {
  margin: 26px 0 8px; font-size: 12px; letter-spacing: 0.06em; text-transform: uppercase;
  color: var(--soft);
}
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 16px; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
dd time { font-size: inherit; color: inherit; margin-right: 8px; }
.id { color: var(--soft); font: 13px/1.7 ui-monospace, Menlo, Consolas, monospace; }
.links { margin: 0; padding: 0; list-style: none; }
.links li { padding: 3px 0; overflow-wrap: anywhere; }
iframe {
  display: block; width: 100%; height: 620px; resize: vertical;
  background: #fff; border: 1px solid var(--line); border-radius: 10px;
}
.themes { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 390px)); gap: 16px; }
figure { margin: 0; }
figcaption { color: var(--soft); font-size: 13px; margin-bottom: 6px; }
.themes iframe { height: 760px; }
iframe.light { color-scheme: light; border-color: #dfe2e7; }
iframe.dark { background: #121614; color-scheme: dark; }
pre {
  margin: 0; padding: 16px 18px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  font: 14px/1.6 ui-monospace, Menlo, Consolas, monospace;
  background: var(--sheet); border: 1px solid var(--line); border-radius: 10px;
}
.source { font-size: 13px; }
@media (max-width: 760px) {
  header { padding: 0 16px; }
  main { display: block; }
  nav { position: static; height: auto; border: 0; min-height: calc(100vh - 56px); }
  nav li a { padding: 12px 16px; }
  nav li a[aria-current] { background: none; box-shadow: none; }
  nav a[aria-current] .kind { background: var(--tint); }
  article { padding: 16px 16px 40px; }
  .at-list article, .at-letter nav { display: none; }
  .at-letter .count { visibility: hidden; overflow: hidden; width: 0; }
  .back { display: inline-block; padding: 6px 0; margin-bottom: 6px; }
  h1 { font-size: 20px; }
}
`
