// What one page tells the next about a letter that was sent: to whom. It travels in the browser's
// history and not in the address, which others may see.
import { useEffect, useState } from 'react'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Where the letter went. */
    readonly email?: string
  }
}

/** Letters take seconds; who asks every second gets a full mailbox and no letter sooner. */
const AGAIN_SECONDS = 60

/** Seconds until another letter may be asked for; counts down by itself. */
export function useCountdown(): { readonly left: number; restart(): void } {
  const [left, setLeft] = useState(AGAIN_SECONDS)
  const isOver = left <= 0
  useEffect(() => {
    if (isOver) return
    const timer = window.setInterval(() => setLeft((before) => before - 1), 1_000)
    return () => window.clearInterval(timer)
  }, [isOver])
  return { left: Math.max(0, left), restart: () => setLeft(AGAIN_SECONDS) }
}
