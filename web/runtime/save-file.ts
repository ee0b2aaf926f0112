// Saves text as a file on the owner's device, without sending it anywhere.

export function saveFile(name: string, text: string, type = 'text/plain;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has read the text by then; without this it would stay in memory.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
