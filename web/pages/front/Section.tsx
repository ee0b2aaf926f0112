// A section of the front page: its heading, a sentence, its contents; on a large screen beside each
// other.
import type { ReactNode } from 'react'

const SECTION = 'grid min-w-0 gap-6 sm:gap-8 2xl:grid-cols-[24rem_minmax(0,1fr)] 2xl:gap-x-16'

export function Section(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly children: ReactNode
}) {
  const { title, lead, children } = props
  return (
    <section className={SECTION}>
      <div className="grid max-w-3xl content-start gap-2">
        <h2 className="text-2xl sm:text-4xl">{title}</h2>
        {lead !== undefined && <div className="text-lg text-pretty text-soft">{lead}</div>}
      </div>
      <div className="grid min-w-0 gap-6 sm:gap-8">{children}</div>
    </section>
  )
}
