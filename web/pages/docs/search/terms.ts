// How texts and questions become the terms of the search. The index, which the build makes, and the
// page use the same functions.

export type Found = {
  /** The page's address with the section's anchor. */
  readonly id: string
  readonly page: string
  readonly title: string
  /** The headings above it. */
  readonly place: string
  /** The beginning of its text. */
  readonly text: string
}

export const searchOptions = {
  fields: ['title', 'place', 'text'],
  storeFields: ['page', 'title', 'place', 'text'],
  tokenize: termsOf,
  processTerm,
}

/** An identifier is a term as a whole and in its parts: `key_missing`, `key`, `missing`. */
function termsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_.$/-]+/u).flatMap((word) => {
    const whole = word.replace(/^[./-]+|[./-]+$/g, '')
    const parts = whole.split(/[_./$-]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '')
    return parts.length > 1 ? [whole, ...parts] : parts
  })
}

/** Endings of Russian words, longest first: «списания» finds «списание». */
const ENDING = new RegExp(
  `(?:${[
    'иями|ями|ами|ется|ются|ится|ятся|ость|ости|ого|его|ому|ему|ыми|ими',
    'ает|яет|ует|ают|уют|ете|ать|ять|ить|еть|ую|юю|ая|яя|ое|ее|ые|ие|ый|ий|ой|ей',
    'ом|ем|ам|ям|ах|ях|ов|ев|ет|ут|ют|ит|ят|а|я|о|е|ы|и|у|ю|ь|й',
  ].join('|')})$`,
)
/** Forms of verbs made of nouns: «резервированием» and «резервируется» find «резерв». */
const VERB = /(?:иров(?:ани|ать|ан|ал)\p{L}{0,3}|иру(?:ем|ет|ют|й)\p{L}{0,3})$/u

/** Short words keep their endings, which are most of them. */
const STEM_MIN = 4

function processTerm(term: string): string {
  const lower = term.toLowerCase().replaceAll('ё', 'е')
  if (!/^\p{Script=Cyrillic}+$/u.test(lower)) return lower
  const stem = lower.replace(VERB.test(lower) ? VERB : ENDING, '')
  return stem.length < STEM_MIN ? lower : stem
}
