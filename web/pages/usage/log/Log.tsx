// The request log. The server filters and pages it; each line opens into its details. Requests that
// arrive meanwhile appear only when the owner clicks a button, so that the lines do not move.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowUp, ListFilter, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { LogPage } from '../../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../../format/use-format.ts'
import { logQuery, usageQuery } from '../../../runtime/queries.ts'
import { useZone } from '../../../runtime/zone.ts'
import { Button } from '../../../ui/Button.tsx'
import { SelectField } from '../../../ui/form/Field.tsx'
import { Empty, Panel } from '../../../ui/parts.tsx'
import { QueryView } from '../../../ui/QueryView.tsx'
import { useRequests } from '../../home/LatestRequests.tsx'
import { endings, filtered, olderThan, type Span, type UsageSearch, without } from '../period.ts'
import { LogTable } from './LogTable.tsx'
import { countNewRequests } from './new-requests.ts'

/** About one and a half screens. */
const LINES_PER_PAGE = 25

export function Log(props: {
  readonly span: Span
  readonly today: string
  readonly search: UsageSearch
  readonly onChange: (change: UsageSearch) => void
}) {
  const { span, search, onChange } = props
  const { t } = useTranslation()
  const zone = useZone()
  const { from, to } = span
  const { model, ending, session, agent, label, hour, before } = search
  const filter = { from, to, zone, model, ending, session, agent, label, hour }
  const query = useQuery(logQuery({ ...filter, before, limit: LINES_PER_PAGE }))
  return (
    <Panel title={t('usage.log.title')} hint={t('usage.log.hint')}>
      <QueryView query={query} lines={8}>
        {(page) => (
          <div
            aria-busy={query.isPlaceholderData}
            className="grid grid-cols-1 gap-4 aria-busy:opacity-60"
          >
            <Filter models={page.models} search={search} onChange={onChange} />
            <Chosen search={search} onChange={onChange} />
            {before === undefined && to === props.today && (
              <NewRequestsButton page={page} search={search} span={span} />
            )}
            <Lines page={page} search={search} onChange={onChange} />
          </div>
        )}
      </QueryView>
    </Panel>
  )
}

type PartProps = {
  readonly search: UsageSearch
  readonly onChange: (change: UsageSearch) => void
}

function Filter({ models, search, onChange }: PartProps & { readonly models: readonly string[] }) {
  const { t } = useTranslation()
  const { model = '', ending = '' } = search
  // The chosen model stays in the list even if it was not used in this period.
  const options = model === '' || models.includes(model) ? models : [model, ...models]
  return (
    <div className="grid gap-3 sm:max-w-xl sm:grid-cols-2">
      <SelectField
        label={t('usage.log.model')}
        value={model}
        onChange={(value) => onChange(filtered(search, 'model', value))}
        options={[
          { value: '', label: t('usage.log.anyModel') },
          ...options.map((value) => ({ value, label: value })),
        ]}
      />
      <SelectField
        label={t('usage.log.ending')}
        value={ending}
        onChange={(value) => onChange(filtered(search, 'ending', value))}
        options={[
          { value: '', label: t('usage.log.anyEnding') },
          { value: 'charged', label: t('usage.log.charged') },
          { value: 'free', label: t('usage.log.free') },
          ...endings.map((value) => ({ value, label: t(`usage.ending.${value}`) })),
        ]}
      />
    </div>
  )
}

/** The filters that have no field: they come from the explorer. Each button removes one. */
function Chosen({ search, onChange }: PartProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const chosen = (['hour', 'session', 'agent', 'label'] as const).flatMap((name) => {
    const value = search[name]
    if (value === undefined) return []
    const shown = name === 'hour' ? format.moment(value) : value
    return [{ name, text: t(`usage.log.chosen.${name}`, { shown }) }]
  })
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      {chosen.map(({ name, text }) => (
        <Button
          key={name}
          isSmall
          icon={X}
          aria-label={t('usage.log.remove', { filter: text })}
          onClick={() => onChange(filtered(search, name, ''))}
        >
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </Button>
      ))}
    </div>
  )
}

/** Shows how many requests arrived since the log was loaded, and loads them on a click. */
function NewRequestsButton({
  page,
  search,
  span,
}: {
  readonly page: LogPage
  readonly search: UsageSearch
  readonly span: Span
}) {
  const { t } = useTranslation()
  const zone = useZone()
  const client = useQueryClient()
  const requests = useRequests()
  const shown = { ...search, ...span, zone }
  const newRequests = countNewRequests(page.lines, requests?.latest ?? [], shown)
  const show = () => {
    void client.invalidateQueries({ queryKey: logQuery({}).queryKey.slice(0, 1) })
    void client.invalidateQueries({ queryKey: usageQuery({}).queryKey.slice(0, 1) })
  }
  return (
    <div role="status" className="flex justify-center empty:hidden">
      {newRequests.count > 0 && (
        <Button tone="main" isSmall icon={ArrowUp} className="rounded-full" onClick={show}>
          {newRequests.isMore
            ? t('usage.log.newMany', { shown: newRequests.count })
            : t('usage.log.new', { count: newRequests.count })}
        </Button>
      )}
    </div>
  )
}

function Lines({ page, search, onChange }: PartProps & { readonly page: LogPage }) {
  const { t } = useTranslation()
  const { before } = search
  const filters = [
    ...(['model', 'ending', 'session', 'agent', 'label', 'hour'] as const),
    ...(['before', 'open'] as const),
  ]
  const unfiltered = without(search, ...filters)
  if (page.lines.length === 0) {
    const isFiltered = Object.keys(unfiltered).length < Object.keys(search).length
    return (
      <Empty
        icon={ListFilter}
        title={t('usage.log.none')}
        text={t('usage.log.noneText')}
        action={
          isFiltered && <Button onClick={() => onChange(unfiltered)}>{t('usage.log.clear')}</Button>
        }
      />
    )
  }
  return (
    <>
      <div className="@container">
        <LogTable
          lines={page.lines}
          open={search.open}
          onOpen={(open) => {
            const rest = without(search, 'open')
            onChange(open === undefined ? rest : { ...rest, open })
          }}
        />
      </div>
      <div className="flex flex-wrap justify-center gap-3 empty:hidden">
        {before !== undefined && (
          <Button onClick={() => onChange(without(search, 'before', 'open'))}>
            {t('usage.log.newest')}
          </Button>
        )}
        {page.next !== null && (
          <Button onClick={() => onChange(olderThan(search, page.next))}>
            {t('usage.log.older')}
          </Button>
        )}
      </div>
    </>
  )
}
