// The stylesheet of the bank's pages: light and dark, from a 320 px phone to a desktop. Text has a
// contrast of at least 4.5:1 and controls 3:1 in both themes. The bank app is blue and the payment
// page green, so that people can tell them apart.

const light = `
  --page: #eef1f0; --surface: #ffffff; --tint: #f5f8f7; --line: #d8dedc; --edge: #7b8683;
  --ink: #141a18; --muted: #55605d; --accent: #0b6b53; --accent-strong: #08543f;
  --on-accent: #ffffff; --wrong: #b3261e; --wrong-tint: #fdf0ef;
  --notice: #fff1c9; --on-notice: #553f00;`

const dark = `
  --page: #0f1413; --surface: #181e1d; --tint: #1e2624; --line: #323c39; --edge: #7d8a86;
  --ink: #edf1f0; --muted: #a8b3af; --accent: #55cfa9; --accent-strong: #7fdfc1;
  --on-accent: #05231a; --wrong: #ffa198; --wrong-tint: #34201f;
  --notice: #362c0c; --on-notice: #ffe08a;`

const base = `
:root { color-scheme: light dark; ${light} }
:root:has(.app) { --accent: #1d4fd7; --accent-strong: #173fae; }
@media (prefers-color-scheme: dark) {
  :root { ${dark} }
  :root:has(.app) { --accent: #9db8ff; --accent-strong: #c0d1ff; --on-accent: #0a1a47; }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
  background: var(--page); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
}
h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance; }
h2 { font-size: 1.0625rem; line-height: 1.35; }
a { color: var(--accent); text-underline-offset: 0.2em; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
svg { display: block; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 1; padding: 0.5rem 1rem;
  background: var(--surface); border-radius: 6px; }
.skip:focus { top: 0.5rem; }
.muted { color: var(--muted); }
.small { font-size: 0.875rem; line-height: 1.45; }
`

const frame = `
.notice { padding: 0.5rem 1rem; text-align: center; font-size: 0.875rem; font-weight: 600;
  background: var(--notice); color: var(--on-notice); }
.top, .sheet { width: 100%; max-width: 60rem; margin-inline: auto; }
.top { display: flex; align-items: center; justify-content: space-between; gap: 1rem;
  padding: 0.875rem 1rem; }
.brand { display: flex; align-items: center; gap: 0.625rem; font-weight: 650; }
.brand svg { color: var(--accent); flex: none; }
.language { display: inline-flex; align-items: center; min-height: 2.75rem; padding: 0 0.5rem;
  font-size: 0.9375rem; white-space: nowrap; }
.sheet { flex: 0 0 auto; background: var(--surface); border-top: 1px solid var(--line); }
.order { padding: 1.25rem 1rem; background: var(--tint); border-bottom: 1px solid var(--line); }
.order dl { display: grid; gap: 0.75rem; }
.order dt { font-size: 0.875rem; color: var(--muted); }
.order .sum { font-size: 1.875rem; font-weight: 700; line-height: 1.2; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.order .time { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem;
  padding-top: 0.75rem; border-top: 1px solid var(--line); }
.order .time dd { font-weight: 650; font-variant-numeric: tabular-nums; }
.pane { padding: 1.5rem 1rem 2rem; display: grid; gap: 1.25rem; align-content: start; }
.lead { display: grid; gap: 0.375rem; }
@media (min-width: 48rem) {
  .notice { padding-block: 0.625rem; }
  .top { padding: 1.5rem 0.25rem 1rem; max-width: 58rem; }
  .sheet { max-width: 58rem; margin-bottom: 3rem; border: 1px solid var(--line);
    border-radius: 16px; overflow: hidden; }
  .split { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  .order { padding: 2rem; border-bottom: 0; border-right: 1px solid var(--line); }
  .order dl { gap: 1.125rem; }
  .pane { padding: 2rem 2.5rem 2.5rem; }
  .narrow, header:has(+ .narrow) .top { max-width: 30rem; }
  header:has(+ .narrow) .top { padding-inline: 0.25rem; }
}
@media (max-width: 47.99rem) {
  .sheet { flex: 1 0 auto; }
  .order dl { grid-template-columns: 1fr auto; gap: 0.625rem 1rem; }
  .order dl > div { grid-column: 1 / -1; }
  .order dl > :first-child { grid-area: 1 / 1; }
  .order .time { grid-area: 1 / 2; display: block; padding: 0; border: 0; text-align: right; }
}
`

const controls = `
.button { display: flex; align-items: center; justify-content: center; gap: 0.5rem; width: 100%;
  min-height: 3rem; padding: 0.625rem 1.25rem; border: 1px solid transparent;
  border-radius: 10px; font: inherit; font-weight: 650; text-align: center;
  text-decoration: none; cursor: pointer; }
.button:focus-visible { border-radius: 10px; }
.primary, .primary:hover { background: var(--accent); color: var(--on-accent); }
.primary:hover { background: var(--accent-strong); }
.plain { background: transparent; color: var(--ink); border-color: var(--edge); }
.plain:hover { background: var(--tint); color: var(--ink); }
.quiet { display: inline-flex; align-items: center; min-height: 2.75rem; font-weight: 550; }
.actions { display: grid; gap: 0.75rem; }
.aside { display: grid; gap: 0.125rem; justify-items: start; padding-top: 0.5rem;
  border-top: 1px solid var(--line); }
.methods ul { display: flex; gap: 0.25rem; padding: 0.25rem; list-style: none;
  background: var(--page); border-radius: 12px; }
.methods li { flex: 1; }
.methods a { display: flex; align-items: center; justify-content: center; min-height: 2.75rem;
  padding: 0.25rem 0.75rem; border: 1px solid transparent; border-radius: 9px;
  color: var(--muted); font-weight: 600; text-align: center; text-decoration: none; }
.methods a:hover { color: var(--ink); }
.methods [aria-current] { background: var(--surface); color: var(--ink);
  border-color: var(--edge); }
form { display: grid; gap: 1.125rem; }
.fields { display: grid; gap: 1.125rem; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start; }
.field { display: grid; gap: 0.3125rem; }
label { font-weight: 600; }
input { width: 100%; min-height: 3rem; padding: 0.5rem 0.875rem; color: var(--ink);
  background: var(--surface); border: 1px solid var(--edge); border-radius: 10px;
  font: inherit; font-size: 1.125rem; font-variant-numeric: tabular-nums; }
input:focus-visible { outline-offset: 0; border-radius: 10px; border-color: var(--accent); }
input[aria-invalid='true'] { border: 2px solid var(--wrong); background: var(--wrong-tint); }
.code input { font-size: 1.5rem; letter-spacing: 0.3em; text-align: center; }
.wrong { color: var(--wrong); font-size: 0.9375rem; font-weight: 600; line-height: 1.4; }
.alarm { padding: 0.75rem 1rem; border-radius: 10px; border: 1px solid var(--wrong);
  background: var(--wrong-tint); color: var(--wrong); font-weight: 650; }
@media (max-width: 22rem) { .pair { grid-template-columns: 1fr; } }
`

const particulars = `
.badge { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border-radius: 50%;
  background: var(--tint); color: var(--accent); border: 1px solid var(--line); }
.badge.bad { background: var(--wrong-tint); color: var(--wrong); }
.reason { font-size: 1.0625rem; font-weight: 600; }
.scan { display: grid; gap: 1rem; justify-items: center; text-align: center; }
.qr { width: min(100%, 15rem); padding: 0.25rem; background: #ffffff; border-radius: 14px;
  border: 1px solid var(--line); }
.qr svg { width: 100%; height: auto; }
.by-phone { display: none; }
@media (max-width: 37.5rem) {
  .by-desktop { display: none; }
  .by-phone { display: grid; gap: 1rem; }
}
.waiting { display: flex; align-items: center; gap: 0.75rem; padding: 0.75rem 1rem;
  background: var(--tint); border: 1px solid var(--line); border-radius: 10px; }
.dot { flex: none; width: 0.75rem; height: 0.75rem; border-radius: 50%;
  background: var(--accent); animation: breathe 1.6s ease-in-out infinite; }
@keyframes breathe { 50% { opacity: 0.25; } }
@media (prefers-reduced-motion: reduce) { .dot { animation: none; } }
details { border-top: 1px solid var(--line); padding-top: 0.5rem; }
summary { min-height: 2.75rem; display: flex; align-items: center; gap: 0.5rem;
  font-weight: 600; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::after { content: ''; width: 0.5rem; height: 0.5rem; margin: 0 0.25rem 0 auto;
  border: solid var(--muted); border-width: 0 2px 2px 0; transform: rotate(45deg); }
details[open] summary::after { transform: rotate(225deg); }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.4375rem 0.75rem 0.4375rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--muted); }
td:first-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
td:last-child, th:last-child { padding-right: 0; }
.facts { display: grid; gap: 0.875rem; }
.facts dt { font-size: 0.875rem; color: var(--muted); }
.facts .sum { font-size: 1.875rem; font-weight: 700; line-height: 1.2;
  font-variant-numeric: tabular-nums; }
`

export const style = [base, frame, controls, particulars].join('').replaceAll(/\s*\n\s*/g, '\n')
