// The shorter lists of an account: keys, mandate, sessions of its agents, e-mails, refused
// requests.
import { useTranslation } from 'react-i18next'
import type {
  KeyLine,
  LetterLine,
  MandateLine,
  RefusedLine,
  SessionLine,
} from '../../../src/operator/console/contract/contract.ts'
import { Credits, Moment, Rubles } from '../../ui/amounts.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { Table } from '../../ui/Table.tsx'

export function Keys({ keys }: { readonly keys: readonly KeyLine[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.account.keys')}>
      {keys.length === 0 && <p className="text-soft">{t('console.account.noKeys')}</p>}
      <ul className="grid gap-3">
        {keys.map(({ id, last4, state, createdAt }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <Badge tone={state === 'active' ? 'good' : 'warn'}>
              {t(`console.account.keyState.${state}`)}
            </Badge>
            <span className="font-mono">…{last4}</span>
            <span className="font-mono text-xs text-soft wrap-anywhere">{id}</span>
            <span className="ms-auto text-sm text-soft">
              <Moment at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

export function Mandate({ mandate }: { readonly mandate: MandateLine | null }) {
  const { t } = useTranslation()
  if (mandate === null) {
    return (
      <Panel title={t('console.account.mandate')}>
        <p className="text-soft">{t('console.account.noMandate')}</p>
      </Panel>
    )
  }
  return (
    <Panel
      title={t('console.account.mandate')}
      actions={
        <Badge tone={mandate.endedAt === null ? 'good' : 'note'}>
          {t(mandate.endedAt === null ? 'console.account.inForce' : 'console.account.ended')}
        </Badge>
      }
    >
      <Facts
        facts={[
          { name: t('console.account.method'), value: mandate.title },
          { name: t('console.account.pack'), value: mandate.pack },
          { name: t('console.account.price'), value: <Rubles kopecks={mandate.priceKopecks} /> },
          { name: t('console.account.below'), value: <Credits value={mandate.threshold} /> },
          {
            name: t('console.account.dayCeiling'),
            value: <Rubles kopecks={mandate.dayCeilingKopecks} />,
          },
          {
            name: t('console.account.monthCeiling'),
            value: <Rubles kopecks={mandate.monthCeilingKopecks} />,
          },
          { name: t('console.account.given'), value: <Moment at={mandate.givenAt} /> },
          ...(mandate.endedAt === null
            ? []
            : [{ name: t('console.account.ended'), value: mandate.endedWhy ?? '' }]),
        ]}
      />
    </Panel>
  )
}

export function Sessions({ sessions }: { readonly sessions: readonly SessionLine[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.account.sessions')}>
      {sessions.length === 0 ? (
        <p className="text-soft">{t('console.account.noSessions')}</p>
      ) : (
        <Table
          caption={t('console.account.sessions')}
          columns={[
            {
              id: 'id',
              label: t('console.account.session'),
              isTitle: true,
              cell: ({ id }: SessionLine) => (
                <span className="font-mono text-sm wrap-anywhere">{id}</span>
              ),
            },
            {
              id: 'models',
              label: t('console.account.models'),
              cell: ({ models }) => models.join(', '),
            },
            {
              id: 'requests',
              label: t('console.account.requests'),
              isNumber: true,
              cell: ({ requests }) => requests,
            },
            {
              id: 'spent',
              label: t('console.account.credits'),
              isNumber: true,
              cell: ({ spent }) => <Credits value={spent} />,
            },
            {
              id: 'last',
              label: t('console.account.lastAt'),
              cell: ({ lastAt }) => <Moment at={lastAt} />,
            },
          ]}
          rows={sessions}
          rowId={({ id }) => id}
        />
      )}
    </Panel>
  )
}

export function Letters({ letters }: { readonly letters: readonly LetterLine[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.account.letters')}>
      {letters.length === 0 && <p className="text-soft">{t('console.account.noLetters')}</p>}
      <ul className="grid gap-2">
        {letters.map((letter) => (
          <li
            key={`${letter.postedAt} ${letter.kind}`}
            className="flex flex-wrap items-baseline gap-x-3"
          >
            <Badge tone={letter.state === 'failed' ? 'bad' : 'note'}>
              {t(`console.account.letterState.${letter.state}`)}
            </Badge>
            <span className="min-w-0 flex-1 basis-40 wrap-anywhere">{letter.subject}</span>
            <span className="text-sm text-soft">
              <Moment at={letter.postedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

export function Refused({ refused }: { readonly refused: readonly RefusedLine[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.account.refused')} hint={t('console.account.refusedHint')}>
      {refused.length === 0 && <p className="text-soft">{t('console.account.noRefused')}</p>}
      <Facts
        facts={refused.map(({ reason, requests, lastAt }) => ({
          name: reason,
          value: (
            <span>
              {requests} · <Moment at={lastAt} isAgo />
            </span>
          ),
        }))}
      />
    </Panel>
  )
}
