// How wide an element is, in pixels, followed while it changes; 0 before it is there.
import { type RefObject, useLayoutEffect, useState } from 'react'

export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const one = element.current
    if (one === null) return
    const measure = () => setWidth(Math.floor(one.getBoundingClientRect().width))
    const observer = new ResizeObserver(measure)
    observer.observe(one)
    measure()
    return () => observer.disconnect()
  }, [element])
  return width
}
