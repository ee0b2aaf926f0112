// The lines of the log: time, model, tokens, ending, cost and request id. The first cell is a
// button that opens the details.
import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { LogLine } from '../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits, TokenCounts } from '../../ui/amounts.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { classes } from '../../ui/classes.ts'
import { Badge } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { endingTones, isCharged } from './endings.ts'
import { RequestDetails } from './RequestDetails.tsx'

type Opening = {
  readonly open: string | undefined
  readonly onOpen: (id: string | undefined) => void
}

export function LogTable(props: Opening & { readonly lines: readonly LogLine[] }) {
  const { lines, open, onOpen } = props
  const { t } = useTranslation()
  const box = useId()
  const columns = useColumns({ open, onOpen }, box)
  return (
    <Table
      caption={t('usage.log.table')}
      columns={columns}
      rows={lines}
      rowId={({ id }) => id}
      below={({ id }) => (id === open ? <RequestDetails id={id} box={box} /> : undefined)}
    />
  )
}

function useColumns(opening: Opening, box: string): readonly Column<LogLine>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'time',
      label: t('usage.log.time'),
      isTitle: true,
      cell: (line) => <OpenButton line={line} opening={opening} box={box} />,
    },
    {
      id: 'model',
      label: t('usage.log.model'),
      cell: ({ model }) => <span className="break-all">{model}</span>,
    },
    { id: 'counts', label: t('usage.log.counts'), cell: (line) => <Counts line={line} /> },
    {
      id: 'how',
      label: t('usage.log.how'),
      cell: ({ ending, isEstimated }) => (
        <span className="inline-flex flex-wrap gap-1 max-md:justify-end">
          <Badge tone={endingTones[ending]}>{t(`usage.ending.${ending}`)}</Badge>
          {isEstimated && <Badge>{t('usage.log.estimated')}</Badge>}
        </span>
      ),
    },
    {
      id: 'request',
      label: t('usage.log.request'),
      cell: ({ id }) => (
        <span className="flex items-center gap-1 max-md:justify-end">
          {/* Request ids differ mostly at their end. */}
          <code title={id} className="text-sm whitespace-nowrap text-soft">
            …{id.slice(-6)}
          </code>
          <CopyButton isBare value={id} label={t('usage.one.copyRequest')} />
        </span>
      ),
    },
    {
      id: 'credits',
      label: t('usage.log.credits'),
      isNumber: true,
      cell: ({ ending, credits }) => (
        <span className={classes(!isCharged(ending) && 'text-soft')}>
          <Credits value={credits} />
        </span>
      ),
    },
  ]
}

/** The time of a request; a click opens its details in the row below. */
function OpenButton({
  line,
  opening,
  box,
}: {
  readonly line: LogLine
  readonly opening: Opening
  readonly box: string
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const isOpen = line.id === opening.open
  const time = format.second(line.at)
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={isOpen ? box : undefined}
      aria-label={t('usage.log.open', { model: line.model, time })}
      onClick={() => opening.onOpen(isOpen ? undefined : line.id)}
      className="-ms-1 flex min-h-11 items-center gap-1.5 rounded-part pe-2 text-start
        text-accent hover:bg-tint"
    >
      <ChevronRight
        aria-hidden
        className={classes('size-4.5 shrink-0 transition-transform', isOpen && 'rotate-90')}
      />
      <time dateTime={line.at} title={format.moment(line.at)} className="figures">
        {time}
      </time>
    </button>
  )
}

function Counts({ line }: { readonly line: LogLine }) {
  if (!isCharged(line.ending)) return '—'
  const cached = BigInt(line.cacheRead) + BigInt(line.cacheWrite5m) + BigInt(line.cacheWrite1h)
  return (
    <span className="whitespace-nowrap">
      <TokenCounts input={BigInt(line.input)} output={BigInt(line.output)} cached={cached} />
    </span>
  )
}
