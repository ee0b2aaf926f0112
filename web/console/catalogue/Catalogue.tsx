// The catalogue in force: models with their prices, what a typical request costs and what it
// leaves, packs, and the history of versions.
import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type {
  CataloguePack,
  Catalogue as CatalogueView,
} from '../../../src/operator/console/contract/catalogue.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits, Rubles } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { PRICES } from '../command/actions.ts'
import { paths } from '../paths.ts'
import { catalogueQuery } from '../queries.ts'
import { useMay } from '../use-me.ts'
import { Models } from './Models.tsx'
import { Versions } from './Versions.tsx'

export function Catalogue() {
  const { t } = useTranslation()
  const may = useMay()
  const query = useQuery(catalogueQuery)
  return (
    <Page
      title={t('console.catalogue.title')}
      lead={query.data && t('console.catalogue.lead', { version: query.data.version })}
      actions={
        may(PRICES) ? (
          <ButtonLink to={paths.catalogueEdit} tone="main" icon={Pencil}>
            {t('console.catalogue.edit')}
          </ButtonLink>
        ) : undefined
      }
    >
      <QueryView query={query} lines={10}>
        {(catalogue) => (
          <div className="grid gap-6">
            <MarginProblem problem={catalogue.marginProblem} />
            <Models models={catalogue.models} />
            <Packs packs={catalogue.packs} />
            <Versions versions={catalogue.versions} />
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function MarginProblem({ problem }: { readonly problem: CatalogueView['marginProblem'] }) {
  const { t } = useTranslation()
  if (problem === null) return null
  return problem === 'none' ? (
    <Banner>{t('console.catalogue.marginNone')}</Banner>
  ) : (
    <Banner tone="warn">{t('console.catalogue.marginUnreadable')}</Banner>
  )
}

function Packs({ packs }: { readonly packs: readonly CataloguePack[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const columns: Column<CataloguePack>[] = [
    {
      id: 'pack',
      label: t('console.catalogue.pack'),
      isTitle: true,
      cell: ({ id, name }) => (
        <>
          {format.text(name)} <span className="font-mono text-sm text-soft">{id}</span>
        </>
      ),
    },
    {
      id: 'credits',
      label: t('console.command.credits'),
      isNumber: true,
      cell: ({ credits }) => <Credits value={credits} />,
    },
    {
      id: 'price',
      label: t('console.catalogue.price'),
      isNumber: true,
      cell: ({ priceKopecks }) => <Rubles kopecks={priceKopecks} />,
    },
    {
      id: 'million',
      label: t('console.catalogue.perMillion'),
      isNumber: true,
      cell: ({ millionKopecks }) => <Rubles kopecks={millionKopecks} />,
    },
  ]
  return (
    <Panel title={t('console.catalogue.packs')}>
      <Table
        caption={t('console.catalogue.packs')}
        columns={columns}
        rows={packs}
        rowId={({ id }) => id}
      />
    </Panel>
  )
}
