// Where the focus goes when a dialog closes: to what opened it. What opened it may be gone by then,
// such as the button of a row that was removed; then to its neighbour, or to the page's heading.
import { useLayoutEffect, useRef } from 'react'

type Place = { readonly opener: HTMLElement; readonly panel: HTMLElement | null }

/** For `onCloseAutoFocus` of Radix, which by itself only knows triggers of its own. */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const place = useRef<Place>(undefined)
  // Before the dialog is in the document: its first field may take the focus as soon as it is.
  useLayoutEffect(() => {
    const opener = document.activeElement
    if (!isOpen || !(opener instanceof HTMLElement)) return
    place.current = { opener, panel: opener.closest('section') }
  }, [isOpen])
  return (event) => {
    event.preventDefault()
    const { opener, panel } = place.current ?? {}
    const isThere = opener?.isConnected === true && opener !== document.body
    const neighbour = panel?.isConnected
      ? panel.querySelector<HTMLElement>('button, a[href]')
      : null
    const heading = document.querySelector<HTMLElement>('main h1')
    const target = isThere ? opener : (neighbour ?? heading)
    target?.focus()
  }
}
