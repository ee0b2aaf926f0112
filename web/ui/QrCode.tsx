// A QR code, drawn here: what it holds goes to nobody. Dark on white in both themes, because many
// readers do not know the other way round.
import { create } from 'qrcode'
import { useMemo } from 'react'

/** What the standard asks for around a code. */
const MARGIN = 4

export function QrCode(props: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => drawn(props.text), [props.text])
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

/** One path of unit squares, a run of dark modules as one rectangle. */
function drawn(text: string): { size: number; path: string } {
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
