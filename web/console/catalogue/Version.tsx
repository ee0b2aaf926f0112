// One version of the catalogue: who applied it, when and why, what it changed in words and in
// money, and the way back to it.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { VersionChanges } from '../../../src/operator/console/contract/catalogue.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { actions, PRICES } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { versionQuery } from '../queries.ts'
import { useMay } from '../use-me.ts'
import { Typical } from './costs.tsx'

export function Version() {
  const { t } = useTranslation()
  const { version } = useParams({ from: '/staff/catalogue/$version' })
  return (
    <Page title={t('console.catalogue.version', { version })}>
      <QueryView query={useQuery(versionQuery(version))} lines={8}>
        {(found) => (
          <div className="grid gap-6">
            <About version={found} />
            <Changes version={found} />
            <details className="rounded-box border border-line bg-sheet p-5 sm:p-6">
              <summary className="cursor-pointer font-medium">
                {t('console.catalogue.text')}
              </summary>
              <pre
                // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by the keyboard too.
                tabIndex={0}
                className="mt-4 max-h-[32rem] overflow-auto rounded-part bg-sunk p-4 text-sm"
              >
                {found.text}
              </pre>
            </details>
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function About({ version }: { readonly version: VersionChanges }) {
  const { t } = useTranslation()
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  const { note, by, appliedAt, isInForce } = version
  return (
    <Panel>
      <div className="grid gap-4">
        <Facts
          facts={[
            {
              name: t('console.catalogue.applied'),
              value: (
                <>
                  {by}, <Moment at={appliedAt} />
                </>
              ),
            },
            {
              name: t('console.catalogue.why'),
              value: note === '' ? t('console.catalogue.noReason') : note,
            },
          ]}
        />
        {isInForce && (
          <div>
            <Badge tone="good">{t('console.catalogue.inForce')}</Badge>
          </div>
        )}
        {!isInForce && may(PRICES) && (
          <div className="flex flex-wrap items-center gap-3">
            <Button onClick={() => setOpen(true)}>{t('console.command.rollBack.button')}</Button>
            <p className="text-sm text-soft">{t('console.catalogue.rollBackHint')}</p>
          </div>
        )}
      </div>
      {isOpen && (
        <CommandDialog
          action={actions.rollBack}
          subject={String(version.version)}
          onClose={() => setOpen(false)}
        />
      )}
    </Panel>
  )
}

type TypicalChange = VersionChanges['typical'][number]

function Changes({ version }: { readonly version: VersionChanges }) {
  const { t } = useTranslation()
  const { differences, inMoney, typical } = version
  const side = (id: 'before' | 'after'): Column<TypicalChange> => ({
    ...{ id, label: t(`console.catalogue.${id}`), isNumber: true },
    cell: (row) => <Typical cost={row[id]} />,
  })
  return (
    <>
      {typical.length > 0 && (
        <Panel title={t('console.catalogue.money')}>
          <Table
            caption={t('console.catalogue.money')}
            columns={[
              {
                id: 'model',
                label: t('console.request.model'),
                isTitle: true,
                cell: ({ model }: TypicalChange) => (
                  <span className="font-mono text-sm wrap-anywhere">{model}</span>
                ),
              },
              side('before'),
              side('after'),
            ]}
            rows={typical}
            rowId={({ model }) => model}
          />
        </Panel>
      )}
      <Panel title={t('console.catalogue.changes')}>
        {differences.length === 0 ? (
          <p className="text-soft">{t('console.catalogue.noChanges')}</p>
        ) : (
          <ul lang="en" className="grid list-disc gap-1.5 ps-5">
            {[...differences, ...inMoney].map((line) => (
              <li key={line} className="wrap-anywhere">
                {line}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  )
}
