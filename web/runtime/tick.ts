// Renders anew from time to time, for what says how long ago something was.
import { useEffect, useState } from 'react'

/** The words change with minutes, so half of one is never far behind. */
const TICK_MS = 30_000

export function useTick(): void {
  const [, setTicks] = useState(0)
  useEffect(() => {
    const timer = window.setInterval(() => setTicks((ticks) => ticks + 1), TICK_MS)
    return () => window.clearInterval(timer)
  }, [])
}
