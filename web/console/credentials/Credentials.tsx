// Where requests go: each credential with its state and why, its limits and pauses by model, what
// its upstream costs today, and draining one or all of an upstream.
import { useQuery } from '@tanstack/react-query'
import { Waypoints } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Today } from '../../../src/operator/console/contract/contract.ts'
import type { Credential } from '../../../src/operator/console/contract/health.ts'
import { useFormat } from '../../format/use-format.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Empty, Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type ActionName, actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { credentialsQuery, todayQuery } from '../queries.ts'
import { ActionButton, type OpenAction } from '../queues/ActionButton.tsx'
import { StateBadge, useUpstreamCost } from '../today/Upstreams.tsx'
import { ModelStates } from './ModelStates.tsx'

export function Credentials() {
  const { t } = useTranslation()
  const [open, setOpen] = useState<{ readonly name: ActionName; readonly subject: string }>()
  const act: OpenAction = (name, subject) => setOpen({ name, subject })
  const costs = useQuery(todayQuery).data?.costs ?? []
  return (
    <Page title={t('console.credentials.title')} lead={t('console.credentials.lead')}>
      <QueryView query={useQuery(credentialsQuery)} lines={8}>
        {({ credentials }) =>
          credentials.length === 0 ? (
            <Empty icon={Waypoints} title={t('console.credentials.none')} />
          ) : (
            <div className="grid gap-6">
              {[...Map.groupBy(credentials, ({ upstream }) => upstream)].map(([name, own]) => (
                <Upstream key={name} {...{ name, own, costs, act }} />
              ))}
            </div>
          )
        }
      </QueryView>
      {open !== undefined && (
        <CommandDialog
          action={actions[open.name]}
          subject={open.subject}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  )
}

function Upstream(props: {
  readonly name: string
  readonly own: readonly Credential[]
  readonly costs: Today['costs']
  readonly act: OpenAction
}) {
  const { t } = useTranslation()
  const { name, own, costs, act } = props
  const costOf = useUpstreamCost(costs)
  const isDrained = own.some(({ isUpstreamDrained }) => isUpstreamDrained)
  return (
    <Panel
      title={name}
      hint={costs.length === 0 ? undefined : `${t('console.credentials.cost')}: ${costOf(name)}`}
      actions={
        own.some(({ isConfigured }) => isConfigured) && (
          <ActionButton
            name={isDrained ? 'undrain' : 'drain'}
            subject={name}
            act={act}
            label={t(`console.credentials.${isDrained ? 'undrainAll' : 'drainAll'}`)}
          />
        )
      }
    >
      <ul className="grid gap-6">
        {own.map((credential) => (
          <li key={credential.target} className="border-t border-line pt-4">
            <OneCredential credential={credential} act={act} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function OneCredential(props: { readonly credential: Credential; readonly act: OpenAction }) {
  const { t, i18n } = useTranslation()
  const { credential, act } = props
  const { target, state, isConfigured, problems, models } = credential
  const why = `console.credentials.why.${state}`
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-mono text-base">{target}</h3>
        <StateBadge state={state} />
        <Drained credential={credential} />
        {!isConfigured && <Badge>{t('console.credentials.foreign')}</Badge>}
        <span className="ms-auto">
          {isConfigured && (
            <ActionButton
              name={credential.isCredentialDrained ? 'undrain' : 'drain'}
              subject={target}
              act={act}
            />
          )}
        </span>
      </div>
      {i18n.exists(why) && (
        <p className="text-sm text-soft">{t(why as 'console.credentials.why.open')}</p>
      )}
      {problems.map(({ problem, processes }) => (
        <Banner key={problem} tone="bad">
          {t('console.credentials.problem', { problem, processes })}
        </Banner>
      ))}
      <Figures credential={credential} />
      {models.length > 0 && <ModelStates models={models} />}
    </div>
  )
}

function Drained({ credential }: { readonly credential: Credential }) {
  const { t } = useTranslation()
  const { isDrained, isUpstreamDrained, underWay } = credential
  if (!isDrained) return null
  const word = underWay > 0 ? 'draining' : isUpstreamDrained ? 'upstreamDrained' : 'drained'
  return <Badge tone="warn">{t(`console.credentials.${word}`)}</Badge>
}

function Figures({ credential }: { readonly credential: Credential }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { firstByteMs, reference, changedBy, changedAt } = credential
  const count = (name: 'underWay' | 'succeeded' | 'failed' | 'weight' | 'processes') => ({
    name: t(`console.credentials.${name}`),
    value: format.whole(credential[name]),
  })
  return (
    <div className="grid gap-x-10 gap-y-1 md:grid-cols-2">
      <Facts facts={[count('underWay'), count('succeeded'), count('failed'), count('weight')]} />
      <Facts
        facts={[
          {
            name: t('console.credentials.firstByte'),
            value:
              firstByteMs === 0
                ? t('console.unknown')
                : t('console.request.ms', { ms: format.whole(firstByteMs) }),
          },
          count('processes'),
          {
            name: t('console.credentials.reference'),
            value: reference ?? t('console.credentials.inFile'),
          },
          ...(changedBy === null || changedAt === null
            ? []
            : [
                {
                  name: t('console.credentials.changed'),
                  value: (
                    <>
                      {changedBy}, <Moment at={changedAt} />
                    </>
                  ),
                },
              ]),
        ]}
      />
    </div>
  )
}
