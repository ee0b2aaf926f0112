// How soon the pages can be used on a slow machine: a cold cache, a processor slowed four times,
// and the time until a button has answered a click. Only --full (FULL=1) checks the time, on a
// quiet machine; the short form asserts that the button answers. Runs alone, because it measures.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { paths } from '../../web/paths.ts'
import { createScreensStage, type Person, type ScreensStage } from './screen/stage.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'

const isFull = process.env.FULL === '1'
const SLOWER = 4
const LOADS = isFull ? 7 : 1
/** Other work may slow one round down; slowness in this many rounds is our own. */
const ROUNDS_MAX = isFull ? 3 : 1
const INTERACTIVE_MS_MAX = 1_500
/** A few answers, one after the other, from a server nearby. */
const WAITING_MS = 100

const at = {
  stage: undefined as unknown as ScreensStage,
  browser: undefined as unknown as TestBrowser,
  owner: undefined as unknown as Person,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createScreensStage()
  at.owner = await at.stage.person('owner')
  await at.stage.buyAndPay(at.owner)
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/**
 * Clicks in the frame that shows the main element, and reports when the page has answered. It
 * checks only after a change of the page, because polling is slowed as well and would be measured.
 * Menus open when a button is pressed, not when it is released.
 */
const watcher = (main: string, button: string, answer: string) => `
  const inFrame = (work) => requestAnimationFrame(work)
  let isClicked = false
  const look = () => {
    const isThere = document.querySelector('${main}') !== null
    const button = document.querySelector('${button}')
    if (isThere && button !== null && !isClicked) {
      isClicked = true
      inFrame(() => {
        button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0 }))
        button.click()
      })
    }
    if (!isClicked || document.querySelector('${answer}') === null) return
    observer.disconnect()
    inFrame(() => globalThis.answered(String(performance.now())))
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { attributes: true, childList: true, subtree: true })`

/**
 * Measures wall time, which includes other work on the machine, and the page's own thread time,
 * which does not: the slowed thread time is what a slow idle machine needs. The page calls back
 * when it has answered, since polling would cost it time as well.
 */
async function load(path: string, script: string, isOwner: boolean) {
  const { context, page } = await at.browser.open('desktop')
  try {
    if (isOwner) await context.addCookies((await at.owner.http.storageState()).cookies)
    await context.addInitScript(script)
    const session = await context.newCDPSession(page)
    await session.send('Runtime.enable')
    await session.send('Runtime.addBinding', { name: 'answered' })
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    const called = new Promise<{ payload: string }>((resolve) =>
      session.once('Runtime.bindingCalled', resolve),
    )
    await page.goto(`${at.stage.url}${path}`, { waitUntil: 'commit' })
    const wallMs = Number((await called).payload)
    const { metrics } = await session.send('Performance.getMetrics')
    const busy = metrics.find((one) => one.name === 'TaskDuration')?.value ?? 0
    return { wallMs, busyMs: busy * 1_000 }
  } finally {
    await context.close()
  }
}

for (const { name, path, main, button, answer, isOwner } of [
  {
    ...{ name: 'the sign-in', path: paths.signIn, isOwner: false },
    ...{ main: 'form input', button: 'form button[type=submit]', answer: '[aria-invalid=true]' },
  },
  {
    ...{ name: 'the overview', path: paths.home, isOwner: true },
    main: `main a[href="${paths.packs}"]`,
    ...{ button: 'header button[aria-haspopup=menu]', answer: '[role=menu]' },
  },
]) {
  const soon = isFull ? 'within 1.5 s of' : 'after'
  test(`${name} answers a click ${soon} a cold start, four times slowed`, async () => {
    const measured = () => measure(path, watcher(main, button, answer), isOwner)
    let { busyMs, wallMs } = await measured()
    for (let round = 1; ; round += 1) {
      console.log(`${name}: ${busyMs} ms of its own, ${wallMs} ms by the clock, of ${LOADS} loads`)
      if (wallMs < INTERACTIVE_MS_MAX || round === ROUNDS_MAX) break
      ;({ busyMs, wallMs } = await measured())
    }
    assert.ok(busyMs > 0 && wallMs > 0, `${busyMs} ms of its own, ${wallMs} ms by the clock`)
    if (!isFull) return
    assert.ok(busyMs + WAITING_MS < INTERACTIVE_MS_MAX, `${busyMs} ms of its own`)
    assert.ok(wallMs < INTERACTIVE_MS_MAX, `${wallMs} ms by the clock`)
  })
}

async function measure(path: string, script: string, isOwner: boolean) {
  const loads: Awaited<ReturnType<typeof load>>[] = []
  for (let n = 0; n < LOADS; n += 1) loads.push(await load(path, script, isOwner))
  return {
    busyMs: medianOf(loads.map((one) => one.busyMs)),
    wallMs: medianOf(loads.map((one) => one.wallMs)),
  }
}

function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
}
