// A notice on the page: what is so, and perhaps what to do. Tone is told by picture and by colour.
import { CircleAlert, CircleCheck, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type BannerTone = 'note' | 'good' | 'warn' | 'bad'

const tones: Readonly<Record<BannerTone, { look: string; icon: LucideIcon; colour: string }>> = {
  note: { look: 'border-line bg-sunk', icon: Info, colour: 'text-soft' },
  good: { look: 'border-accent/30 bg-tint', icon: CircleCheck, colour: 'text-accent' },
  warn: { look: 'border-amber/35 bg-amber-tint', icon: TriangleAlert, colour: 'text-amber' },
  bad: { look: 'border-bad/35 bg-bad-tint', icon: CircleAlert, colour: 'text-bad' },
}

export function Banner(props: {
  readonly tone?: BannerTone
  readonly title?: string
  readonly children?: ReactNode
  /** Buttons; below the text on a phone. */
  readonly actions?: ReactNode
}) {
  const { tone = 'note', title, children, actions } = props
  const { look, icon: Icon, colour } = tones[tone]
  return (
    <div className={classes('flex flex-wrap gap-x-4 gap-y-3 rounded-box border p-4', look)}>
      <div className="flex min-w-0 flex-1 basis-64 gap-3">
        <Icon aria-hidden className={classes('mt-0.5 size-5 shrink-0', colour)} />
        <div className="grid min-w-0 gap-1">
          {title !== undefined && <p className="font-semibold">{title}</p>}
          {children !== undefined && <div className="text-pretty wrap-anywhere">{children}</div>}
        </div>
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2 self-center">{actions}</div>}
    </div>
  )
}
