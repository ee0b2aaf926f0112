// Takes over what a control already has when scripts take over a page that the server rendered: a
// visitor or a password manager may have filled it in before. React keeps the text on the page, but
// its state has the value that the server rendered.
import { useEffect, useRef, useSyncExternalStore } from 'react'

const never = () => () => undefined

export function EarlyInput(props: {
  readonly id: string
  readonly onFound: (control: HTMLInputElement | HTMLSelectElement) => void
}) {
  // True only in the rendering that takes over the server's.
  const isTakingOver = useSyncExternalStore(
    never,
    () => false,
    () => true,
  )
  const first = useRef({ ...props, isTakingOver })
  useEffect(() => {
    const { id, onFound, isTakingOver: tookOver } = first.current
    first.current.isTakingOver = false
    const control = document.getElementById(id)
    const isControl = control instanceof HTMLInputElement || control instanceof HTMLSelectElement
    if (tookOver && isControl) onFound(control)
  }, [])
  return null
}
