// npm run screens [-- <part of a name> …]: saves screenshots of every screen of the cabinet in four
// widths and both languages and themes to .screens/cabinet for people to look at. With parts, only
// the screenshots whose names contain all of them, such as `home- phone ru`. `console`: those of
// the console, to .screens/console.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { screens } from './screen/list.ts'
import { arrange } from './screen/people.ts'
import { type Language, type Screen, words } from './screen/screen.ts'
import { createScreensStage } from './screen/stage.ts'
import { createWindows } from './screen/windows.ts'
import { openBrowser, type WindowName, windows } from './support/browser.ts'

/** The windows of the journeys, and two more sizes in which layouts change. */
const sizes = {
  phone: { window: 'phone', ...windows.phone.viewport },
  tablet: { window: 'desktop', width: 768, height: 1024 },
  desktop: { window: 'desktop', ...windows.desktop.viewport },
  wide: { window: 'desktop', width: 1920, height: 1080 },
} as const satisfies Record<string, Size>

type Size = { readonly window: WindowName; readonly width: number; readonly height: number }
type Shot = {
  readonly name: string
  readonly screen: Screen
  readonly size: Size
  readonly language: Language
}

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.screens/cabinet')
const parts = process.argv.slice(2)
if (parts[0] === 'console') {
  await build({ configFile: join(root, 'web/console/vite.config.ts'), logLevel: 'error' })
  const { takeConsoleScreens } = await import('./console-screens.ts')
  console.log(`${await takeConsoleScreens()} screenshots in .screens/console`)
  process.exit(0)
}
const shots = screens.flatMap((screen) =>
  Object.entries(sizes).flatMap(([sizeName, size]) =>
    (Object.keys(words) as Language[]).flatMap((language): Shot[] => {
      const name = `${screen.name}-${sizeName}-${language}`
      return parts.every((part) => name.includes(part)) ? [{ name, screen, size, language }] : []
    }),
  ),
)
if (shots.length === 0) {
  console.error(`no such screen; there are: ${screens.map(({ name }) => name).join(' ')}`)
  process.exit(2)
}

mkdirSync(folder, { recursive: true })
// Build the current pages; a fresh checkout has none.
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'error' })
const stage = await createScreensStage()
const browser = await openBrowser()
const missing: string[] = []
try {
  const shown = createWindows(browser, stage, await arrange(stage))
  for (const { name, screen, size, language } of shots) {
    try {
      const { window } = size
      await shown.show(screen, { window, language }, (page) => take(page, name, size))
    } catch (error) {
      missing.push(name)
      console.error(`${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  await shown.close()
} finally {
  await browser.close()
  await stage.end()
}
console.log(`${shots.length * 2} screenshots in ${folder}, ${missing.length * 2} missing`)
process.exitCode = missing.length === 0 ? 0 : 1

async function take(page: Page, name: string, { width, height }: Size): Promise<void> {
  const isOver = await page.getByRole('dialog').or(page.getByRole('menu')).isVisible()
  await page.setViewportSize({ width, height })
  const content = await page.evaluate<number>('document.documentElement.scrollHeight')
  // As high as the page, so that bars are at its edges; overlays keep their place.
  if (!isOver) await page.setViewportSize({ width, height: Math.max(content, height) })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  }
}
