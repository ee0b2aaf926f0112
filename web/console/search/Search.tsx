// What a text belongs to: accounts, keys, orders, requests, sessions, promo codes. One result opens
// by itself, so that an id from an e-mail leads to its page at once.
import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearch } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Hit } from '../../../src/operator/console/contract/contract.ts'
import { looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Empty, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { paths } from '../paths.ts'
import { searchQuery } from '../queries.ts'
import { ActionButton } from '../queues/ActionButton.tsx'
import { useName } from '../use-name.ts'

export function Search() {
  const { t } = useTranslation()
  const { text = '' } = useSearch({ from: '/staff/search' })
  const found = useQuery(searchQuery(text))
  return (
    <Page title={t('console.search.title')} lead={t('console.search.lead')}>
      {text !== '' && (
        <QueryView query={found}>
          {({ hits, advice }) => <Results text={text} hits={hits} advice={advice} />}
        </QueryView>
      )}
    </Page>
  )
}

function Results(props: {
  readonly text: string
  readonly hits: readonly Hit[]
  readonly advice: string | null
}) {
  const { t } = useTranslation()
  const { text, hits, advice } = props
  const [isInviting, setInviting] = useState(false)
  const [only, ...others] = hits
  if (only === undefined) {
    return (
      <>
        <Empty
          icon={SearchX}
          title={t('console.search.nothing', { text })}
          text={advice ?? undefined}
          action={
            looksLikeEmail(text) && (
              <ActionButton name="invite" subject={text} act={() => setInviting(true)} />
            )
          }
        />
        {isInviting && (
          <CommandDialog
            action={actions.invite}
            subject={text}
            onClose={() => setInviting(false)}
          />
        )}
      </>
    )
  }
  if (others.length === 0) {
    const { kind, id, book } = only
    if (kind === 'request') return <Navigate to={paths.request} params={{ id }} replace />
    if (book !== null) return <Navigate to={paths.account} params={{ book }} replace />
  }
  const columns: Column<Hit>[] = [
    {
      id: 'id',
      label: t('console.search.id'),
      isTitle: true,
      cell: (hit) => <HitName hit={hit} />,
    },
    {
      id: 'what',
      label: t('console.search.what'),
      cell: (hit) => (
        <span className="inline-flex flex-wrap items-baseline gap-2">
          {t(`console.search.kind.${hit.kind}`)}
          <HitState hit={hit} />
        </span>
      ),
    },
  ]
  return (
    <Panel title={t('console.search.found', { count: hits.length })}>
      <Table
        caption={t('console.search.title')}
        columns={columns}
        rows={hits}
        rowId={({ kind, id, book }) => `${kind} ${id} ${book}`}
      />
    </Panel>
  )
}

function HitState({ hit: { kind, state } }: { readonly hit: Hit }) {
  const { t } = useTranslation()
  const orderName = useName('orderState')
  const endingName = useName('ending')
  if (state === null) return null
  if (kind === 'account') return <Badge>{t('console.account.closed')}</Badge>
  if (kind === 'registration') {
    if (state === 'expired') return <Badge>{t('console.queues.linkExpired')}</Badge>
    return <Badge>{t(`console.account.letterState.${letterState(state)}`)}</Badge>
  }
  return <Badge>{kind === 'request' ? endingName(state) : orderName(state)}</Badge>
}

function letterState(state: string): 'queued' | 'sent' | 'failed' {
  return state === 'queued' || state === 'failed' ? state : 'sent'
}

/** What a person recognises, with the id below it. */
function HitName({ hit }: { readonly hit: Hit }) {
  const isKnownByText = ['account', 'order', 'request', 'registration'].includes(hit.kind)
  const name = isKnownByText && hit.text !== '' ? hit.text : hit.id
  return (
    <span className="grid">
      <HitLink hit={hit}>{name}</HitLink>
      {name !== hit.id && <span className="font-mono text-xs text-soft">{hit.id}</span>}
    </span>
  )
}

function HitLink(props: { readonly hit: Hit; readonly children: string }) {
  const { kind, id, book } = props.hit
  if (kind === 'request') {
    return (
      <TextLink to={paths.request} params={{ id }}>
        {props.children}
      </TextLink>
    )
  }
  if (kind === 'registration') {
    return <TextLink to={paths.queues}>{props.children}</TextLink>
  }
  if (book === null) return props.children
  return (
    <TextLink to={paths.account} params={{ book }}>
      {props.children}
    </TextLink>
  )
}
