// The wait before an e-mail can be sent again, and the address it went to. The address passes from
// page to page in the history state, not in the URL, which others may see.
import { useEffect, useState } from 'react'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The address that the e-mail was sent to. */
    readonly email?: string
  }
}

/** An e-mail takes seconds to arrive; sending one every second would only fill the mailbox. */
const RESEND_SECONDS = 60

/** Counts down the seconds until the e-mail can be sent again. */
export function useResendCountdown(): { readonly left: number; restart(): void } {
  const [left, setLeft] = useState(RESEND_SECONDS)
  const isOver = left <= 0
  useEffect(() => {
    if (isOver) return
    const timer = window.setInterval(() => setLeft((before) => before - 1), 1_000)
    return () => window.clearInterval(timer)
  }, [isOver])
  return { left: Math.max(0, left), restart: () => setLeft(RESEND_SECONDS) }
}
