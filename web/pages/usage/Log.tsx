// The request log: filtered and paged by the server, each line opens into its arithmetic. What
// comes in while somebody reads waits behind a button, so that the lines do not move away.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowUp, ListFilter } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { LogPage } from '../../../src/cabinet/contract/usage.ts'
import { logAsk, usageAsk } from '../../runtime/asks.ts'
import { useZone } from '../../runtime/zone.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Button } from '../../ui/Button.tsx'
import { SelectField } from '../../ui/form/Field.tsx'
import { Empty, Panel } from '../../ui/parts.tsx'
import { useRequests } from '../home/LatestRequests.tsx'
import { LogTable } from './LogTable.tsx'
import { newIn } from './news.ts'
import { endings, filtered, olderThan, type Span, type UsageSearch, without } from './period.ts'

/** A screenful and a half: what is opened stays near. */
const LINES = 25

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
  const { model, ending, before } = search
  const query = useQuery(logAsk({ from, to, zone, model, ending, before, limit: LINES }))
  return (
    <Panel title={t('usage.log.title')} hint={t('usage.log.hint')}>
      <Asked query={query} lines={8}>
        {(page) => (
          <div
            aria-busy={query.isPlaceholderData}
            className="grid grid-cols-1 gap-4 aria-busy:opacity-60"
          >
            <Filter models={page.models} search={search} onChange={onChange} />
            {before === undefined && to === props.today && <News page={page} search={search} />}
            <Lines page={page} search={search} onChange={onChange} />
          </div>
        )}
      </Asked>
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
  // What was chosen stays in the list, also when these days have none of it.
  const named = model === '' || models.includes(model) ? models : [model, ...models]
  return (
    <div className="grid gap-3 sm:max-w-xl sm:grid-cols-2">
      <SelectField
        label={t('usage.log.model')}
        value={model}
        onChange={(value) => onChange(filtered(search, 'model', value))}
        options={[
          { value: '', label: t('usage.log.anyModel') },
          ...named.map((value) => ({ value, label: value })),
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

/** Says how many came since, and shows them when asked. */
function News({ page, search }: { readonly page: LogPage; readonly search: UsageSearch }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const requests = useRequests()
  const news = newIn(page.lines, requests?.latest ?? [], search)
  const show = () => {
    void client.invalidateQueries({ queryKey: logAsk({}).queryKey.slice(0, 1) })
    void client.invalidateQueries({ queryKey: usageAsk({}).queryKey.slice(0, 1) })
  }
  return (
    <div role="status" className="flex justify-center empty:hidden">
      {news.count > 0 && (
        <Button tone="main" isSmall icon={ArrowUp} className="rounded-full" onClick={show}>
          {news.isMore
            ? t('usage.log.newMany', { shown: news.count })
            : t('usage.log.new', { count: news.count })}
        </Button>
      )}
    </div>
  )
}

function Lines({ page, search, onChange }: PartProps & { readonly page: LogPage }) {
  const { t } = useTranslation()
  const { before } = search
  const unfiltered = without(search, 'model', 'ending', 'before', 'open')
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
      <LogTable
        lines={page.lines}
        open={search.open}
        onOpen={(open) => {
          const rest = without(search, 'open')
          onChange(open === undefined ? rest : { ...rest, open })
        }}
      />
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
