// What a command says is one English text, whoever reads it: the terminal prints it, acts keep it,
// and a second person's approval compares it. A Russian page shows each line by the sentence that
// it was made from; a line without one stays in English, so that nothing of a plan is ever hidden.
import { sentences, states } from '../words/ru-lines.ts'

type Sentence = {
  readonly pattern: RegExp
  readonly names: readonly string[]
  readonly russian: string
}

const MARK = /\{(\w+)\}/g

const known: readonly Sentence[] = sentences
  .map(([english, russian]) => ({
    pattern: patternOf(english),
    names: [...english.matchAll(MARK)].map(([, name = '']) => name),
    russian,
    letters: english.replaceAll(MARK, '').length,
  }))
  // The sentence with the most words of its own is the one that was meant.
  .toSorted((a, b) => b.letters - a.letters)

function patternOf(english: string): RegExp {
  const text = english.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${text.replace(MARK, '(.+?)')}$`)
}

/** The line in Russian, with its indentation; undefined when no sentence fits. */
export function russianLine(line: string): string | undefined {
  const [, indent = '', text = ''] = /^([-+]? *)(.*)$/.exec(line) ?? []
  for (const { pattern, names, russian } of known) {
    const values = pattern.exec(text)?.slice(1)
    if (values === undefined) continue
    const shown = new Map(names.map((name, i) => [name, valueText(name, values[i] ?? '')]))
    return indent + russian.replaceAll(MARK, (_, name: string) => shown.get(name) ?? '')
  }
  return undefined
}

function valueText(name: string, value: string): string {
  // What an approved command printed.
  if (name === 'printed') return value.split('; ').map(shownLine).join('; ')
  if (name === 'roubles') return value.replace('.', ',')
  if (name === 'ago' || name === 'until') return agoText(value)
  if (name in states) return states[name]?.[value] ?? value
  return value.replace(/[\d .-]+ RUB/g, (sum) => sum.replaceAll('.', ',').replace('RUB', '₽'))
}

/** `3 min ago` in Russian. */
function agoText(value: string): string {
  const units: Readonly<Record<string, string>> = { s: 'с', min: 'мин', h: 'ч' }
  const shown = value.replace(/ (s|min|h) ago$/, (_, unit: string) => ` ${units[unit]} назад`)
  return shown === 'never' ? 'никогда' : shown
}

/** A line without a sentence stays as it is. */
export function shownLine(line: string): string {
  return russianLine(line) ?? line
}
