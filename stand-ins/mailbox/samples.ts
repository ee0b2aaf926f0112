// The sample e-mails: every e-mail of a product in each of its languages, as its developers gave
// them, so that people can look at all of them without causing each. Kept in memory.

export type Sample = {
  readonly kind: string
  /** As in the attribute lang: ru, en. */
  readonly language: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

export type Samples = ReturnType<typeof createSamples>

export function createSamples() {
  const state: { all: readonly Sample[] } = { all: [] }
  return {
    list: (): readonly Sample[] => state.all,
    one: (index: number): Sample | undefined => state.all[index],
    set: (all: readonly Sample[]): void => {
      state.all = all
    },
  }
}

/** Parses samples from HTTP. Throws an error with a message for an invalid one. */
export function readSamples(value: unknown): Sample[] {
  if (!Array.isArray(value)) throw new Error('samples are a list')
  return value.map((one) => {
    const { kind, language, subject, text, html } = Object(one) as Record<string, unknown>
    const parts = { kind, language, subject, text, html }
    for (const [name, part] of Object.entries(parts)) {
      if (typeof part !== 'string') throw new Error(`a sample has a text \`${name}\``)
    }
    return parts as Sample // each member was looked at
  })
}

/** The HTML as a mail program in this theme shows it, whatever the theme of the browser is. */
export function inTheme(html: string, theme: 'light' | 'dark'): string {
  const scheme = `<style>:root{color-scheme:${theme} !important}</style>`
  const media = theme === 'dark' ? '@media all' : '@media not all'
  return html
    .replaceAll('@media (prefers-color-scheme:dark)', media)
    .replace('</head>', `${scheme}</head>`)
}
