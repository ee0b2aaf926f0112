// The only script of the bank's pages, the same text on all of them: its hash stands in the content
// security policy. It ticks the countdown, notices that an SBP payment ended, and swallows a second
// click. Every page works without it.

// 1.5 s: a payer who looks up from the phone finds the page already moving on.
const pollMs = 1500
// A second click is swallowed for so long; after that the first one must have got lost.
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
      // The next try may get through.
    } finally {
      isAsking = false
    }
  }
  setInterval(ask, ${pollMs})
  // Timers of a hidden tab sleep; the payer comes back from the bank's tab and waits for nothing.
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
