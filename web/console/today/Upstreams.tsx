// Where requests go now: the state of each credential, what its upstream costs today, and draining
// one.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Today, Upstream } from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Button } from '../../ui/Button.tsx'
import { Badge, type BadgeTone, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { useMay } from '../use-me.ts'
import { useName } from '../use-name.ts'

const tones: Readonly<Record<string, BadgeTone>> = {
  ...{ closed: 'good', probing: 'warn', unseen: 'note' },
}

/** The state of a breaker, or why a credential is out of service. */
export function StateBadge({ state }: { readonly state: string }) {
  const name = useName('upstreamState')
  return <Badge tone={tones[state] ?? 'bad'}>{name(state)}</Badge>
}

/** What an upstream costs today; a dash where that is not known. */
export function useUpstreamCost(costs: Today['costs']): (upstream: string) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return (upstream) => {
    const kopecks = costs.find((one) => one.upstream === upstream)?.kopecks ?? null
    return kopecks === null ? t('console.unknown') : format.rubles(kopecks)
  }
}

export function Upstreams(
  props: Pick<Today, 'costs'> & { readonly upstreams: readonly Upstream[] },
) {
  const { upstreams, costs } = props
  const { t } = useTranslation()
  const may = useMay()
  const [open, setOpen] = useState<Upstream>()
  const columns = useColumns(costs, may(actions.drain.permission) ? setOpen : undefined)
  return (
    <div id="upstreams" className="scroll-mt-20">
      <Panel title={t('console.today.upstreams')}>
        {upstreams.length === 0 ? (
          <p className="text-soft">{t('console.today.noUpstreams')}</p>
        ) : (
          <Table
            caption={t('console.today.upstreams')}
            isWide
            columns={columns}
            rows={upstreams}
            rowId={({ target }) => target}
          />
        )}
      </Panel>
      {open !== undefined && (
        <CommandDialog
          action={open.isDrained ? actions.undrain : actions.drain}
          subject={open.target}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  )
}

function useColumns(
  costs: Today['costs'],
  onDrain: ((one: Upstream) => void) | undefined,
): Column<Upstream>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const costOf = useUpstreamCost(costs)
  const count = (id: 'underWay' | 'succeeded' | 'failed'): Column<Upstream> => ({
    ...{ id, label: t(`console.today.upstream.${id}`), isNumber: true },
    cell: (one) => format.whole(one[id]),
  })
  return [
    {
      id: 'target',
      label: t('console.today.upstream.target'),
      isTitle: true,
      cell: ({ target }) => target,
    },
    {
      id: 'state',
      label: t('console.account.state'),
      cell: ({ state, isDrained }) => (
        <span className="inline-flex flex-wrap gap-2">
          <StateBadge state={state} />
          {isDrained && <Badge tone="warn">{t('console.today.upstream.drained')}</Badge>}
        </span>
      ),
    },
    count('underWay'),
    count('succeeded'),
    count('failed'),
    ...(costs.length === 0
      ? []
      : [
          {
            id: 'cost',
            label: t('console.today.figure.cost'),
            isNumber: true,
            cell: ({ upstream }: Upstream) => costOf(upstream),
          },
        ]),
    ...(onDrain === undefined
      ? []
      : [
          {
            id: 'drain',
            label: t('console.command.drain.button'),
            isUnlabelled: true,
            cell: (one: Upstream) => (
              <Button isSmall onClick={() => onDrain(one)}>
                {t(`console.command.${one.isDrained ? 'undrain' : 'drain'}.button`)}
              </Button>
            ),
          },
        ]),
  ]
}
