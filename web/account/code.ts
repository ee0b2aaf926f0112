// The code that a letter's link carries behind the hash, where no server and no log sees it. It
// stays there until it was used, so that the page survives a reload.

export function codeInAddress(): string | undefined {
  const code = new URLSearchParams(window.location.hash.slice(1)).get('code')
  return code === null || code === '' ? undefined : code
}

/** After it was used: it shall not stand in the browser's history. */
export function dropCode(): void {
  window.history.replaceState(window.history.state, '', window.location.pathname)
}
