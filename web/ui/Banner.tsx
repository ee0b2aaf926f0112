// A notice on the page with a text and optional buttons. Icon and colour both show its tone.
import { CircleAlert, CircleCheck, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type BannerTone = 'note' | 'good' | 'warn' | 'bad'

const tones: Readonly<
  Record<BannerTone, { boxClasses: string; icon: LucideIcon; iconClasses: string }>
> = {
  note: { boxClasses: 'border-line bg-sunk', icon: Info, iconClasses: 'text-soft' },
  good: { boxClasses: 'border-accent/30 bg-tint', icon: CircleCheck, iconClasses: 'text-accent' },
  warn: {
    boxClasses: 'border-amber/35 bg-amber-tint',
    icon: TriangleAlert,
    iconClasses: 'text-amber',
  },
  bad: { boxClasses: 'border-bad/35 bg-bad-tint', icon: CircleAlert, iconClasses: 'text-bad' },
}

export function Banner(props: {
  readonly tone?: BannerTone
  readonly title?: string
  readonly children?: ReactNode
  /** Buttons; on a phone they stand below the text. */
  readonly actions?: ReactNode
}) {
  const { tone = 'note', title, children, actions } = props
  const { boxClasses, icon: Icon, iconClasses } = tones[tone]
  return (
    <div className={classes('flex flex-wrap gap-x-4 gap-y-3 rounded-box border p-4', boxClasses)}>
      <div className="flex min-w-0 flex-1 basis-64 gap-3">
        <Icon aria-hidden className={classes('mt-0.5 size-5 shrink-0', iconClasses)} />
        <div className="grid min-w-0 gap-1">
          {title !== undefined && <p className="font-semibold">{title}</p>}
          {children !== undefined && <div className="text-pretty wrap-anywhere">{children}</div>}
        </div>
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2 self-center">{actions}</div>}
    </div>
  )
}
