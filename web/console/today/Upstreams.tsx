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
  const name = useName('upstreamState')
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
          <Badge tone={tones[state] ?? 'bad'}>{name(state)}</Badge>
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
            cell: ({ upstream }: Upstream) => {
              const kopecks = costs.find((one) => one.upstream === upstream)?.kopecks ?? null
              return kopecks === null ? t('console.unknown') : format.rubles(kopecks)
            },
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
