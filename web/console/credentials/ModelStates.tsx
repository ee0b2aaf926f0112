// What a credential may do for each model: its state, the end of a pause, and what is left of its
// limits.
import { useTranslation } from 'react-i18next'
import type { CredentialModel } from '../../../src/operator/console/contract/health.ts'
import { useFormat } from '../../format/use-format.ts'
import { Badge, type BadgeTone } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { useName } from '../use-name.ts'

const tones: Readonly<Record<CredentialModel['state'], BadgeTone>> = {
  ...{ serving: 'good', cooling: 'warn', sick: 'bad', forbidden: 'bad' },
}

export function ModelStates({ models }: { readonly models: readonly CredentialModel[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const stateName = useName('modelState')
  const columns: Column<CredentialModel>[] = [
    {
      id: 'model',
      label: t('console.credentials.model'),
      isTitle: true,
      cell: ({ model, isFree }) => (
        <span className="font-mono text-sm wrap-anywhere">
          {isFree ? t('console.credentials.counting', { model }) : model}
        </span>
      ),
    },
    {
      id: 'state',
      label: t('console.account.state'),
      cell: ({ state, coolingUntil }) => (
        <span className="inline-flex flex-wrap items-baseline gap-2">
          <Badge tone={tones[state]}>{stateName(state)}</Badge>
          {coolingUntil !== null && (
            <span className="text-sm text-soft">
              {t('console.credentials.until')}{' '}
              <time dateTime={coolingUntil} className="figures">
                {format.second(coolingUntil)}
              </time>
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'underWay',
      label: t('console.credentials.underWay'),
      isNumber: true,
      cell: ({ underWay }) => format.whole(underWay),
    },
    {
      id: 'limits',
      label: t('console.credentials.limits'),
      cell: ({ limits, most }) => <Limits {...{ limits, most }} />,
    },
  ]
  return (
    <Table
      caption={t('console.credentials.models')}
      columns={columns}
      rows={models}
      rowId={({ model, isFree }) => `${model} ${isFree}`}
    />
  )
}

function Limits({ limits, most }: Pick<CredentialModel, 'limits' | 'most'>) {
  const { t } = useTranslation()
  const format = useFormat()
  if (limits.length === 0 && most === null) return t('console.unknown')
  return (
    <span className="grid text-sm">
      {limits.map(({ kind, left, limit }) => (
        <span key={kind} className="figures">
          {t('console.credentials.left', {
            ...{ kind, left: format.whole(left), limit: format.whole(limit) },
          })}
        </span>
      ))}
      {most !== null && <span>{t('console.credentials.most', { most })}</span>}
    </span>
  )
}
