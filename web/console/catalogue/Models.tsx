// Models with their prices by kind of token; below a row its limits, other price lists and margins.
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type {
  CatalogueModel,
  MarginLine,
  TokenPrices,
} from '../../../src/operator/console/contract/catalogue.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits, Rubles } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { Margin, Typical } from './costs.tsx'

export const kinds = ['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const

export function Models({ models }: { readonly models: readonly CatalogueModel[] }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<string>()
  const columns = useModelColumns(open, setOpen)
  return (
    <Panel title={t('console.catalogue.models')} hint={t('console.catalogue.modelsHint')}>
      <Table
        caption={t('console.catalogue.models')}
        isWide
        columns={columns}
        rows={models}
        rowId={({ id }) => id}
        below={(model) => (model.id === open ? <Details model={model} /> : undefined)}
      />
    </Panel>
  )
}

function useModelColumns(
  open: string | undefined,
  setOpen: (id: string | undefined) => void,
): Column<CatalogueModel>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'model',
      label: t('console.request.model'),
      isTitle: true,
      cell: (model) => <ModelName model={model} />,
    },
    ...usePriceColumns(({ price }: CatalogueModel) => price),
    {
      id: 'typical',
      label: t('console.catalogue.typical'),
      isNumber: true,
      cell: ({ typical }) => <Typical cost={typical} />,
    },
    {
      id: 'margin',
      label: t('console.catalogue.margin'),
      isNumber: true,
      cell: ({ margins }) => <Margin line={margins[0]} />,
    },
    {
      id: 'details',
      label: t('console.catalogue.details'),
      isUnlabelled: true,
      cell: ({ id }) => (
        <Button
          isSmall
          tone="quiet"
          aria-expanded={id === open}
          aria-label={`${t('console.catalogue.details')}: ${id}`}
          onClick={() => setOpen(id === open ? undefined : id)}
        >
          <span className="lg:hidden">{t('console.catalogue.details')}</span>
          <ChevronDown aria-hidden className={id === open ? 'size-5 rotate-180' : 'size-5'} />
        </Button>
      ),
    },
  ]
}

/** One column for each kind of token. */
function usePriceColumns<Row>(priceOf: (row: Row) => TokenPrices): Column<Row>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return kinds.map((kind) => ({
    ...{ id: kind, label: t(`console.catalogue.kind.${kind}`), isNumber: true },
    cell: (row: Row) => format.decimal(priceOf(row)[kind]),
  }))
}

function ModelName({ model }: { readonly model: CatalogueModel }) {
  const { t } = useTranslation()
  const format = useFormat()
  const names = model.upstreamNames
    .filter(({ name }) => name !== model.id)
    .map(({ upstream, name }) => (upstream === null ? name : `${upstream}: ${name}`))
  return (
    <span className="grid">
      <span className="font-mono text-sm wrap-anywhere">{model.id}</span>
      <span className="text-sm font-normal text-soft">{format.text(model.name)}</span>
      {names.length > 0 && (
        <span className="text-sm font-normal text-soft wrap-anywhere">
          {t('console.catalogue.atUpstream', { names: names.join(', ') })}
        </span>
      )}
    </span>
  )
}

function Details({ model }: { readonly model: CatalogueModel }) {
  const { t } = useTranslation()
  const format = useFormat()
  const lists = usePriceColumns(({ price }: CatalogueModel['lists'][number]) => price)
  return (
    <div className="grid gap-5 rounded-part bg-sunk p-4">
      <Facts
        facts={[
          { name: t('console.catalogue.window'), value: format.whole(model.contextWindow) },
          { name: t('console.catalogue.ceiling'), value: format.whole(model.outputCeiling) },
          ...model.features.map(({ name, perUse }) => ({
            name: t('console.catalogue.use', { name }),
            value: <Credits value={perUse} />,
          })),
        ]}
      />
      {model.lists.length > 0 && (
        <Table
          caption={t('console.catalogue.list')}
          isWide
          columns={[
            {
              id: 'list',
              label: t('console.catalogue.list'),
              isTitle: true,
              cell: ({ name }: CatalogueModel['lists'][number]) => name,
            },
            ...lists,
          ]}
          rows={model.lists}
          rowId={({ name }) => name}
        />
      )}
      {model.margins.length > 0 && <Margins lines={model.margins} />}
    </div>
  )
}

function Margins({ lines }: { readonly lines: readonly MarginLine[] }) {
  const { t } = useTranslation()
  const columns: Column<MarginLine>[] = [
    {
      id: 'sold',
      label: t('console.catalogue.sold'),
      isTitle: true,
      cell: ({ sold, verdict }) => (
        <span className="inline-flex flex-wrap gap-2">
          {sold}
          {verdict === 'loss' && <Badge tone="bad">{t('console.catalogue.loss')}</Badge>}
        </span>
      ),
    },
    {
      id: 'list',
      label: t('console.catalogue.list'),
      cell: ({ list }) => (list === '' ? t('console.catalogue.defaultList') : list),
    },
    {
      id: 'brings',
      label: t('console.catalogue.brings'),
      isNumber: true,
      cell: ({ brings }) => <Rubles kopecks={brings} />,
    },
    {
      id: 'costs',
      label: t('console.catalogue.costs'),
      isNumber: true,
      cell: ({ costs }) => (costs === null ? t('console.unknown') : <Rubles kopecks={costs} />),
    },
    {
      id: 'margin',
      label: t('console.catalogue.margin'),
      isNumber: true,
      cell: (line) => <Margin line={line} />,
    },
  ]
  return (
    <div className="grid gap-2">
      <p className="text-sm text-soft">{t('console.catalogue.marginLead')}</p>
      <Table
        caption={t('console.catalogue.margin')}
        columns={columns}
        rows={lines}
        rowId={({ sold }) => sold}
      />
    </div>
  )
}
