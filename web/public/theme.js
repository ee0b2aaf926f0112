// Runs before the first paint, so that a user who chose a theme sees no flash of the other one. A
// module would run too late, and the page's policy allows no inline script.
;(() => {
  const chosen = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)
  if (chosen !== null) document.documentElement.dataset.theme = chosen[1]
})()
