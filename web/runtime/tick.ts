// Renders a component again from time to time, for texts such as "5 minutes ago".
import { useEffect, useState } from 'react'

/** The texts change every minute; half a minute keeps them close to the truth. */
const TICK_MS = 30_000

export function useTick(): void {
  const [, setTicks] = useState(0)
  useEffect(() => {
    const timer = window.setInterval(() => setTicks((ticks) => ticks + 1), TICK_MS)
    return () => window.clearInterval(timer)
  }, [])
}
