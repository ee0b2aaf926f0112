// Runs before the first paint: whoever chose a theme must not see a flash of the other one. A
// module would come too late, and the page's policy lets no inline script run.
;(() => {
  const chosen = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)
  if (chosen !== null) document.documentElement.dataset.theme = chosen[1]
})()
