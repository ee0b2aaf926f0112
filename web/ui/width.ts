// The width of an element in pixels; follows its changes and is 0 before the element exists.
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
