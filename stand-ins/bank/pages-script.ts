// The only script of the bank's pages, the same text on all of them: its hash is in the content
// security policy. It updates the countdown, detects the end of an SBP payment, and ignores a
// second click. Every page works without it.

// 1.5 s: the page has usually moved on when the payer looks up from the phone.
const pollMs = 1500
// A second click is ignored for this long; after that the first request must have been lost.
const clickMs = 5000

export const script = `
const timer = document.querySelector('[data-remaining-ms]')
if (timer) {
  const endMs = Date.now() + Number(timer.dataset.remainingMs)
  const tick = () => {
    const seconds = Math.max(0, Math.ceil((endMs - Date.now()) / 1000))
    timer.textContent = Math.floor(seconds / 60) + ':' + String(seconds % 60).padStart(2, '0')
    if (seconds > 0) setTimeout(tick, 500)
    else location.replace(timer.dataset.next)
  }
  tick()
}

const waiting = document.querySelector('[data-status]')
if (waiting) {
  let isAsking = false
  const ask = async () => {
    if (isAsking) return
    isAsking = true
    try {
      const answer = await fetch(waiting.dataset.status, { cache: 'no-store' })
      const { status, attempts } = await answer.json()
      const isOver = status !== 'pending' || attempts > Number(waiting.dataset.attempts)
      if (isOver) location.replace(waiting.dataset.next)
    } catch {
      // The next attempt may succeed.
    } finally {
      isAsking = false
    }
  }
  setInterval(ask, ${pollMs})
  // Browsers pause timers of a hidden tab; poll at once when the payer returns from the bank's tab.
  document.addEventListener('visibilitychange', ask)
}

const sentAt = new WeakMap()
addEventListener('submit', (event) => {
  if (Date.now() - (sentAt.get(event.target) ?? 0) < ${clickMs}) event.preventDefault()
  else sentAt.set(event.target, Date.now())
})
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
`
