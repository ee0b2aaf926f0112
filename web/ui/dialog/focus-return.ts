// Returns the focus when a dialog closes to the element that opened it. If that element is gone,
// such as the button of a removed row, a button of the same panel or the page's heading takes it.
import { useLayoutEffect, useRef } from 'react'

type Origin = { readonly opener: HTMLElement; readonly panel: HTMLElement | null }

/** For `onCloseAutoFocus` of Radix, which by itself returns the focus only to its own triggers. */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const origin = useRef<Origin>(undefined)
  // Before the dialog is in the document, because its first field may take the focus at once.
  useLayoutEffect(() => {
    const opener = document.activeElement
    if (!isOpen || !(opener instanceof HTMLElement)) return
    origin.current = { opener, panel: opener.closest('section') }
  }, [isOpen])
  return (event) => {
    event.preventDefault()
    const { opener, panel } = origin.current ?? {}
    const isConnected = opener?.isConnected === true && opener !== document.body
    const neighbour = panel?.isConnected
      ? panel.querySelector<HTMLElement>('button, a[href]')
      : null
    const heading = document.querySelector<HTMLElement>('main h1')
    const target = isConnected ? opener : (neighbour ?? heading)
    target?.focus()
  }
}
