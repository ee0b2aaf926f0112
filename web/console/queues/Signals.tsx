// What accounts of one person often share. A signal has no action: a person opens the accounts.
import { useTranslation } from 'react-i18next'
import type { Queues } from '../../../src/operator/console/contract/queues.ts'
import { useFormat } from '../../format/use-format.ts'
import { Moment, Rubles } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { Queue } from './Queue.tsx'

export function Signals({ signals }: Pick<Queues, 'signals'>) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Panel
      title={t('console.queues.signals', { number: signals.length })}
      hint={t('console.queues.signalsHint')}
    >
      <Queue
        rows={signals.map(({ kind, of, count, amountKopecks, lastAt, accounts }) => ({
          id: `${kind} ${of} ${accounts[0]?.book ?? ''}`,
          title: t(`console.queues.signal.${kind}`),
          badge: <Badge>{format.whole(count)}</Badge>,
          amount: amountKopecks === null ? null : <Rubles kopecks={amountKopecks} />,
          text: of === '' ? null : of,
          at: lastAt === null ? null : <Moment at={lastAt} isAgo />,
          link: (
            <span className="flex flex-wrap gap-x-3">
              {accounts.map(({ book, name }) => (
                <TextLink key={book} to={paths.account} params={{ book }}>
                  {name}
                </TextLink>
              ))}
            </span>
          ),
          actions: null,
        }))}
      />
    </Panel>
  )
}
