// The code in the hash of a link from an e-mail: browsers do not send the hash, so no server log
// contains it. It stays there until it has been used, so that the page survives a reload.

export function codeInHash(): string | undefined {
  const code = new URLSearchParams(window.location.hash.slice(1)).get('code')
  return code === null || code === '' ? undefined : code
}

/** Called after the code has been used, so that it does not stay in the browser's history. */
export function removeCodeFromHash(): void {
  window.history.replaceState(window.history.state, '', window.location.pathname)
}
