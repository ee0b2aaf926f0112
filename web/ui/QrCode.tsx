// A QR code, drawn in the browser, so that its content is not sent to a server. Dark on white in
// both themes, because many scanners do not read light on dark.
import { create } from 'qrcode'
import { useMemo } from 'react'

/** The quiet zone around a code, in modules, as the standard requires. */
const MARGIN = 4

export function QrCode(props: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => qrPathOf(props.text), [props.text])
  const side = size + 2 * MARGIN
  return (
    <svg
      role="img"
      aria-label={props.label}
      viewBox={`${-MARGIN} ${-MARGIN} ${side} ${side}`}
      shapeRendering="crispEdges"
      className="w-52 max-w-full rounded-part border border-line bg-white"
    >
      <path d={path} className="fill-black" />
    </svg>
  )
}

/** One SVG path; each horizontal run of dark modules is a rectangle. */
function qrPathOf(text: string): { size: number; path: string } {
  const { size, data } = create(text, { errorCorrectionLevel: 'M' }).modules
  const parts: string[] = []
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (data[y * size + x] !== 1) continue
      const start = x
      while (x < size && data[y * size + x] === 1) x++
      parts.push(`M${start} ${y}h${x - start}v1H${start}z`)
    }
  }
  return { size, path: parts.join('') }
}
