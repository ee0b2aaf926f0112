// Runs inside a page, for tests that look at every screen: what is said on it, in which language,
// and which of its text is cut off or lies on other text.

type Said = { readonly text: string; readonly language: string; readonly isCode: boolean }
type Line = { readonly text: string; readonly rect: DOMRect; readonly layer: Element }

const SPOKEN = ['aria-label', 'title', 'alt', 'placeholder'] as const

/** Everything that is read or heard, piece by piece. */
function said(): Said[] {
  const spoken = [...document.querySelectorAll<HTMLElement>('body *')].flatMap((element) =>
    element.getClientRects().length === 0
      ? []
      : SPOKEN.flatMap((name) => pieceOf(element, element.getAttribute(name) ?? '')),
  )
  return [...textNodes().flatMap(({ element, text }) => pieceOf(element, text)), ...spoken]
}

/** Text that sticks out of the window, or out of a box that shows no more than fits. */
function cut(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement
  const wide = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : []
  const out = lines().flatMap(({ text, rect }) =>
    rect.right > clientWidth + 1 || rect.left < -1 ? [`sticks out: ${text}`] : [],
  )
  const boxes = [...document.querySelectorAll<HTMLElement>('body *')].flatMap((box) => {
    const style = getComputedStyle(box)
    const hides = (value: string) => value === 'hidden' || value === 'clip'
    const isCut =
      (hides(style.overflowX) && box.scrollWidth > box.clientWidth + 1) ||
      (hides(style.overflowY) && box.scrollHeight > box.clientHeight + 1)
    const text = box.innerText?.trim() ?? ''
    return isCut && text !== '' && !isForReaders(box) ? [`cut off: ${text.slice(0, 80)}`] : []
  })
  return [...wide, ...out, ...boxes]
}

/** Lines of text that lie on one another. Bars, menus and dialogs lie on the page rightly. */
function overlapping(): string[] {
  const all = lines()
  return all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other) => {
      const across = between(one.rect.left, one.rect.right, other.rect.left, other.rect.right)
      const down = between(one.rect.top, one.rect.bottom, other.rect.top, other.rect.bottom)
      // Lines of a heading stand closer than their letters are high.
      const isOver = across > 2 && down > 0.4 * Math.min(one.rect.height, other.rect.height)
      return isOver && one.layer === other.layer ? [`“${one.text}” and “${other.text}”`] : []
    }),
  )
}

/** The focused element, how it shows that, and whether it can be seen. */
function focus() {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: 'nothing', problem: '' }
  const name = `${element.tagName.toLowerCase()} ${nameOf(element)}`
  const { left, top, width, height } = element.getBoundingClientRect()
  const at = document.elementFromPoint(left + width / 2, top + height / 2)
  const isSeen = at !== null && (element.contains(at) || at.contains(element))
  const marked = [element, element.parentElement, element.closest('label')]
  const hasMark = marked.some((one) => one !== null && isMarked(one))
  // A menu marks where one is with a ground of its own.
  const isItem = /^menuitem/.test(element.getAttribute('role') ?? '')
  const problem = isSeen ? (hasMark || isItem ? '' : 'shows no focus') : 'is hidden behind another'
  return { name, problem }
}

// -------------------------------------------------------------------------------------------------

function textNodes(): { element: HTMLElement; node: Text; text: string }[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: { element: HTMLElement; node: Text; text: string }[] = []
  while (walker.nextNode() !== null) {
    // Safe: the walker shows text nodes alone, and those of a page have parents.
    const node = walker.currentNode as Text
    const element = node.parentElement as HTMLElement
    const text = node.data.replace(/\s+/g, ' ').trim()
    // What waits behind a summary has its place already.
    const isFolded = element.closest('details:not([open]) > :not(summary)') !== null
    const isShown = element.getClientRects().length > 0 && !element.closest('script, noscript')
    if (text !== '' && isShown && !isFolded) found.push({ element, node, text })
  }
  return found
}

function lines(): Line[] {
  return textNodes().flatMap(({ element, node, text }) => {
    if (isForReaders(element) || isScrolled(element)) return []
    const range = document.createRange()
    range.selectNodeContents(node)
    const layer = layerOf(element)
    const rects = [...range.getClientRects()].filter(({ width }) => width > 1)
    return rects.map((rect) => ({ text: text.slice(0, 60), rect, layer }))
  })
}

function pieceOf(element: HTMLElement, text: string): Said[] {
  if (text.trim() === '') return []
  const language = element.closest('[lang]')?.getAttribute('lang') ?? ''
  const isCode = element.closest('code, pre, [translate="no"], option') !== null
  return [{ text, language, isCode }]
}

function ancestors(element: Element): Element[] {
  const parent = element.parentElement
  return parent === null ? [element] : [element, ...ancestors(parent)]
}

/** Hidden from the eye alone. */
function isForReaders(element: Element): boolean {
  return ancestors(element).some((one) => getComputedStyle(one).clipPath === 'inset(50%)')
}

/** Inside of a box that can be scrolled sideways, such as an example of code. */
function isScrolled(element: Element): boolean {
  const scrolled = (one: Element) => /auto|scroll/.test(getComputedStyle(one).overflowX)
  return ancestors(element).some((one) => scrolled(one) && one.scrollWidth > one.clientWidth)
}

function layerOf(element: Element): Element {
  const isApart = (one: Element) => /fixed|sticky|absolute/.test(getComputedStyle(one).position)
  return ancestors(element).find(isApart) ?? document.body
}

function between(a: number, b: number, c: number, d: number): number {
  return Math.min(b, d) - Math.max(a, c)
}

function isMarked(element: Element): boolean {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
  const isClear = /, 0\)$|transparent/.test(outlineColor)
  return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && !isClear
}

function nameOf(element: Element): string {
  const label = element.getAttribute('aria-label') ?? element.textContent ?? ''
  return (label.trim() || (element.getAttribute('name') ?? '')).slice(0, 60)
}

Object.assign(globalThis, { looks: { said, cut, overlapping, focus } })
