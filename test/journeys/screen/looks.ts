// What is looked at on every screen besides axe: in which language it speaks, and whether all of
// its text can be read. The eyes are web/looks-trial.ts, inside the page.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { ru } from '../../../web/words/ru/ru.ts'
import type { Language } from './screen.ts'

const file = join(import.meta.dirname, '../../../web/looks-trial.ts')
const eyes = stripTypeScriptTypes(readFileSync(file, 'utf8'))

type Said = { readonly text: string; readonly language: string; readonly isCode: boolean }

async function look<T>(page: Page, verb: string): Promise<T> {
  await page.evaluate(`globalThis.looks ?? (() => { ${eyes} })()`)
  return page.evaluate<T>(`looks.${verb}()`)
}

/** The focused element, and what is wrong with how it shows that. */
export const focusOf = (page: Page) => look<{ name: string; problem: string }>(page, 'focus')

/** A key that has no sentence is shown itself; a value that was not given, in braces. */
const KEY = new RegExp(
  String.raw`(?<![\w/])(?:${Object.keys(ru).join('|')})\.(?!md\b)[a-z][\w.]+\b|\{\{`,
)

/** Pieces that are not in the language of the page. */
export async function strangeWords(page: Page, language: Language): Promise<string[]> {
  const pieces = await look<Said[]>(page, 'said')
  const isStrange = language === 'en' ? isRussian : isEnglish
  return pieces
    .filter((one) => one.language === language && !one.isCode)
    .map(({ text }) => text.trim())
    .filter((text) => KEY.test(text) || isStrange(text))
}

/** The seller's name, and what an owner called things, are in their own language. */
function isRussian(text: string): boolean {
  return /\p{Script=Cyrillic}/u.test(text) && !/ООО|ИНН|ОГРН|Рабочий ноутбук/.test(text)
}

/** Four words in a row without a Russian letter; fewer may be a name or an address. */
function isEnglish(text: string): boolean {
  return !/\p{Script=Cyrillic}/u.test(text) && /(?:\p{L}{2,}[ ,.:]+){3}\p{L}{2,}/u.test(text)
}

/** A menu beside its button moves a few frames after the window has changed; on a busy machine
 * those took longer than the next look. What is wrong for this long is wrong. */
const SETTLING_MS_MAX = 5_000

/** Text that cannot be read: cut off, out of the window, or lying on other text. */
export async function unreadable(page: Page): Promise<string[]> {
  const end = Date.now() + SETTLING_MS_MAX
  for (;;) {
    const found = await Promise.all([
      look<string[]>(page, 'cut'),
      look<string[]>(page, 'overlapping'),
    ])
    if (found.flat().length === 0 || Date.now() > end) return found.flat()
    await setTimeout(200)
  }
}
