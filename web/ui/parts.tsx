// Small components of the pages: panels, facts, badges, skeletons, empty states.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { classes } from './classes.ts'

/** A section of the page on a sheet, with its own heading. */
export function Panel(props: {
  readonly title?: string
  readonly hint?: ReactNode
  /** Shown at the right of the heading. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
  readonly isDanger?: boolean
}) {
  const { title, hint, actions, children, isDanger = false } = props
  return (
    <section
      className={classes(
        'min-w-0 rounded-box border bg-sheet p-5 sm:p-6',
        isDanger ? 'border-bad/40' : 'border-line',
      )}
    >
      {title !== undefined && (
        <div className="mb-4 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
          <div className="grid min-w-0 flex-1 basis-60 gap-1">
            <h2 className="text-lg">{title}</h2>
            {hint !== undefined && (
              <div className="max-w-prose text-sm text-pretty text-soft">{hint}</div>
            )}
          </div>
          {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** Two columns beside each other where they fit, else one below the other. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className="grid min-w-0 items-start gap-6 xl:grid-cols-2">{children}</div>
}

/** Panels below each other, each as high as its content, whatever the other column holds. */
export function Column({ children }: { readonly children: ReactNode }) {
  return <div className="grid min-w-0 content-start gap-6">{children}</div>
}

/** Names and values with dotted lines between them. */
export function Facts(props: {
  readonly facts: readonly { readonly name: string; readonly value: ReactNode }[]
}) {
  return (
    <dl className="grid gap-1">
      {props.facts.map(({ name, value }) => (
        <div key={name} className="flex flex-wrap items-baseline gap-x-2">
          <dt className="text-soft">{name}</dt>
          <span aria-hidden className="leader" />
          <dd className="figures ms-auto min-w-0 text-end wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export type BadgeTone = 'note' | 'good' | 'warn' | 'bad'

const badgeTones: Readonly<Record<BadgeTone, string>> = {
  note: 'bg-sunk text-soft',
  good: 'bg-tint text-accent',
  warn: 'bg-amber-tint text-amber',
  bad: 'bg-bad-tint text-bad',
}

/** A status in one or two words. */
export function Badge(props: { readonly tone?: BadgeTone; readonly children: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-block rounded-full px-2.5 py-0.5 text-sm font-medium md:whitespace-nowrap',
        badgeTones[props.tone ?? 'note'],
      )}
    >
      {props.children}
    </span>
  )
}

/** A placeholder while data is loading; `lines` is the expected height. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  const { t } = useTranslation()
  const widths = ['w-full', 'w-11/12', 'w-4/5', 'w-2/3']
  return (
    <div role="status" className="grid animate-pulse gap-3 py-1">
      <span className="sr-only">{t('state.loading')}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no other identity.
          key={line}
          className={classes('h-4 rounded-sm bg-sunk', widths[line % widths.length])}
        />
      ))}
    </div>
  )
}

/** Placeholders on sheets of the heights of the panels that come. */
export function PanelSkeletons(props: { readonly lines: readonly number[] }) {
  return props.lines.map((lines, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the panels have no other identity.
    <Panel key={at}>
      <Skeleton lines={lines} />
    </Panel>
  ))
}

/** A page whose code or answer is still on its way: a heading, then panels. */
export function PageSkeleton() {
  const { t } = useTranslation()
  return (
    <div className="grid w-full min-w-0 grid-cols-1 content-start gap-6">
      <h1 className="h-9 w-56 max-w-full animate-pulse rounded-sm bg-sunk">
        <span className="sr-only">{t('state.loading')}</span>
      </h1>
      <PanelSkeletons lines={[5, 7]} />
    </div>
  )
}

/** An empty state: why there is nothing yet, and what to do about it. */
export function Empty(props: {
  readonly icon: LucideIcon
  readonly title: string
  readonly text?: ReactNode
  readonly action?: ReactNode
}) {
  const { icon: Icon, title, text, action } = props
  return (
    <div className="grid justify-items-center gap-3 px-4 py-10 text-center">
      <span className="grid size-12 place-items-center rounded-full bg-sunk text-soft">
        <Icon aria-hidden className="size-6" />
      </span>
      <p className="font-serif text-lg font-semibold">{title}</p>
      {text !== undefined && <p className="max-w-md text-soft">{text}</p>}
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  )
}
