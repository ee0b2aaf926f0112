// Checks of every screen besides axe: that its text is in the language of the page, and that all of
// it can be read. web/page-probe.ts does the work inside the page.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { ru } from '../../../web/words/ru/ru.ts'
import type { Language } from './screen.ts'

const file = join(import.meta.dirname, '../../../web/page-probe.ts')
const probe = stripTypeScriptTypes(readFileSync(file, 'utf8'))

type Said = { readonly text: string; readonly language: string; readonly isCode: boolean }

async function runProbe<T>(page: Page, verb: string): Promise<T> {
  await page.evaluate(`globalThis.pageProbe ?? (() => { ${probe} })()`)
  return page.evaluate<T>(`pageProbe.${verb}()`)
}

/** The focused element, and what is wrong with its focus indicator. */
export const focusOf = (page: Page) => runProbe<{ name: string; problem: string }>(page, 'focus')

/** Matches a message key shown instead of its sentence, and a missing value, shown in braces. */
const KEY = new RegExp(
  String.raw`(?<![\w/])(?:${Object.keys(ru).join('|')})\.(?!md\b)[a-z][\w.]+\b|\{\{`,
)

/** Texts that are not in the language of the page. */
export async function foreignTexts(page: Page, language: Language): Promise<string[]> {
  const pieces = await runProbe<Said[]>(page, 'texts')
  const isStrange = language === 'en' ? isRussian : isEnglish
  return pieces
    .filter((one) => one.language === language && !one.isCode)
    .map(({ text }) => text.trim())
    .filter((text) => KEY.test(text) || isStrange(text))
}

/** The seller's name, and names that an owner chose, stay in their own language. */
function isRussian(text: string): boolean {
  return /\p{Script=Cyrillic}/u.test(text) && !/ООО|ИНН|ОГРН|Рабочий ноутбук/.test(text)
}

/** Four words in a row without a Russian letter; fewer may be a name or an address. */
function isEnglish(text: string): boolean {
  return !/\p{Script=Cyrillic}/u.test(text) && /(?:\p{L}{2,}[ ,.:]+){3}\p{L}{2,}/u.test(text)
}

/**
 * A menu moves to its button a few frames after the window has changed, and on a busy machine those
 * took longer than the next check. A fault that lasts this long is real.
 */
const SETTLING_MS_MAX = 5_000

/** Text that cannot be read: cut off, outside the window, or overlapping other text. */
export async function unreadableTexts(page: Page): Promise<string[]> {
  const end = Date.now() + SETTLING_MS_MAX
  for (;;) {
    const found = await Promise.all([
      runProbe<string[]>(page, 'clipped'),
      runProbe<string[]>(page, 'overlaps'),
    ])
    if (found.flat().length === 0 || Date.now() > end) return found.flat()
    await setTimeout(200)
  }
}
