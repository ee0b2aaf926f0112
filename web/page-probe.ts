// Tests inject this script into every screen. It collects the texts of the page with their
// languages, and finds text that is clipped or overlaps other text.

type TextPiece = { readonly text: string; readonly language: string; readonly isCode: boolean }
type Line = { readonly text: string; readonly rect: DOMRect; readonly layer: Element }

const TEXT_ATTRIBUTES = ['aria-label', 'title', 'alt', 'placeholder'] as const

/** Every text that users read or screen readers announce. */
function texts(): TextPiece[] {
  const attributes = [...document.querySelectorAll<HTMLElement>('body *')].flatMap((element) =>
    element.getClientRects().length === 0
      ? []
      : TEXT_ATTRIBUTES.flatMap((name) => textPieceOf(element, element.getAttribute(name) ?? '')),
  )
  return [...textNodes().flatMap(({ element, text }) => textPieceOf(element, text)), ...attributes]
}

/** Text that sticks out of the window, or out of a box that hides its overflow. */
function clipped(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement
  const tooWide = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : []
  const outside = lines().flatMap(({ text, rect }) =>
    rect.right > clientWidth + 1 || rect.left < -1 ? [`sticks out: ${text}`] : [],
  )
  const boxes = [...document.querySelectorAll<HTMLElement>('body *')].flatMap((box) => {
    const style = getComputedStyle(box)
    const hides = (value: string) => value === 'hidden' || value === 'clip'
    const isClipped =
      (hides(style.overflowX) && box.scrollWidth > box.clientWidth + 1) ||
      (hides(style.overflowY) && box.scrollHeight > box.clientHeight + 1)
    const text = box.innerText?.trim() ?? ''
    return isClipped && text !== '' && !isForScreenReaders(box)
      ? [`clipped: ${text.slice(0, 80)}`]
      : []
  })
  return [...tooWide, ...outside, ...boxes]
}

/** Lines of text that overlap. Bars, menus and dialogs may lie over the page. */
function overlaps(): string[] {
  const all = lines()
  return all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other) => {
      const across = overlapLength(one.rect.left, one.rect.right, other.rect.left, other.rect.right)
      const down = overlapLength(one.rect.top, one.rect.bottom, other.rect.top, other.rect.bottom)
      // The lines of a heading are closer than their boxes are high.
      const isOver = across > 2 && down > 0.4 * Math.min(one.rect.height, other.rect.height)
      return isOver && one.layer === other.layer ? [`“${one.text}” and “${other.text}”`] : []
    }),
  )
}

/** The focused element, and a problem if it shows no focus mark or is hidden. */
function focus() {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: 'nothing', problem: '' }
  const name = `${element.tagName.toLowerCase()} ${nameOf(element)}`
  const { left, top, width, height } = element.getBoundingClientRect()
  const at = document.elementFromPoint(left + width / 2, top + height / 2)
  const isSeen = at !== null && (element.contains(at) || at.contains(element))
  const candidates = [element, element.parentElement, element.closest('label')]
  const hasFocusMark = candidates.some((one) => one !== null && hasOutline(one))
  // A menu marks the focused item with a background colour.
  const isItem = /^menuitem/.test(element.getAttribute('role') ?? '')
  const problem = isSeen
    ? hasFocusMark || isItem
      ? ''
      : 'shows no focus'
    : 'is hidden behind another'
  return { name, problem }
}

// -------------------------------------------------------------------------------------------------

function textNodes(): { element: HTMLElement; node: Text; text: string }[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: { element: HTMLElement; node: Text; text: string }[] = []
  while (walker.nextNode() !== null) {
    // Safe: the walker returns only text nodes, and those in the body have parents.
    const node = walker.currentNode as Text
    const element = node.parentElement as HTMLElement
    const text = node.data.replace(/\s+/g, ' ').trim()
    // Text in a closed <details> has a layout box but is not visible.
    const isInClosedDetails = element.closest('details:not([open]) > :not(summary)') !== null
    const isShown = element.getClientRects().length > 0 && !element.closest('script, noscript')
    if (text !== '' && isShown && !isInClosedDetails) found.push({ element, node, text })
  }
  return found
}

function lines(): Line[] {
  return textNodes().flatMap(({ element, node, text }) => {
    if (isForScreenReaders(element) || isScrolled(element)) return []
    const range = document.createRange()
    range.selectNodeContents(node)
    const layer = layerOf(element)
    const rects = [...range.getClientRects()].filter(({ width }) => width > 1)
    return rects.map((rect) => ({ text: text.slice(0, 60), rect, layer }))
  })
}

function textPieceOf(element: HTMLElement, text: string): TextPiece[] {
  if (text.trim() === '') return []
  const language = element.closest('[lang]')?.getAttribute('lang') ?? ''
  const isCode = element.closest('code, pre, [translate="no"], option') !== null
  return [{ text, language, isCode }]
}

function ancestors(element: Element): Element[] {
  const parent = element.parentElement
  return parent === null ? [element] : [element, ...ancestors(parent)]
}

/** Visible to screen readers only. */
function isForScreenReaders(element: Element): boolean {
  return ancestors(element).some((one) => getComputedStyle(one).clipPath === 'inset(50%)')
}

/** Inside a box that scrolls sideways, such as a code example. */
function isScrolled(element: Element): boolean {
  const scrolled = (one: Element) => /auto|scroll/.test(getComputedStyle(one).overflowX)
  return ancestors(element).some((one) => scrolled(one) && one.scrollWidth > one.clientWidth)
}

function layerOf(element: Element): Element {
  const isPositioned = (one: Element) =>
    /fixed|sticky|absolute/.test(getComputedStyle(one).position)
  return ancestors(element).find(isPositioned) ?? document.body
}

function overlapLength(a: number, b: number, c: number, d: number): number {
  return Math.min(b, d) - Math.max(a, c)
}

function hasOutline(element: Element): boolean {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
  const isClear = /, 0\)$|transparent/.test(outlineColor)
  return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && !isClear
}

function nameOf(element: Element): string {
  const label = element.getAttribute('aria-label') ?? element.textContent ?? ''
  return (label.trim() || (element.getAttribute('name') ?? '')).slice(0, 60)
}

Object.assign(globalThis, { pageProbe: { texts, clipped, overlaps, focus } })
