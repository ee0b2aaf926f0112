// The key page: why there is no key yet, creating it, showing and copying it, what to do when it is
// lost or stolen, and how to use it. The plain value comes only from this browser's storage.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { KeyRound, Lock } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand, KeyState } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { brandQuery, keyQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty, Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { AbsentKey } from './AbsentKey.tsx'
import { FirstRequest } from './FirstRequest.tsx'
import { KeyActions } from './KeyActions.tsx'
import { KeyPanel } from './KeyPanel.tsx'
import { QuickStartPanel } from './QuickStartPanel.tsx'
import { type StoredKeys, useReveal, useStoredKeys } from './stored-keys.ts'
import { TryPanel } from './TryPanel.tsx'
import { UnstoredKeyDialog } from './UnstoredKeyDialog.tsx'
import { type KeyIssuing, useIssueKey } from './use-issue-key.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** A button of the page before has said that it creates the key. */
    readonly createsKey?: true
  }
}

export function Key() {
  const { t } = useTranslation()
  const { account } = useMe()
  const { data: brand } = useQuery(brandQuery)
  const query = useQuery(keyQuery)
  const stored = useStoredKeys(account, query.data)
  const issuing = useIssueKey(query.data)
  useCreationAtOnce(query.data, issuing)
  return (
    <Page title={t('key.title')} lead={t('key.lead')}>
      <QueryView query={query} skeleton={<PanelSkeletons lines={[6, 8]} />}>
        {(state) =>
          brand === undefined || stored === undefined ? (
            <PanelSkeletons lines={[6, 8]} />
          ) : (
            <Body state={state} brand={brand} stored={stored} issuing={issuing} />
          )
        }
      </QueryView>
      <UnstoredKeyDialog issuing={issuing} />
    </Page>
  )
}

/**
 * Once: neither a reload nor a later visit of this page in the history creates another key. A
 * page that still says "locked" is older than the purchase whose button led here, and is read anew.
 */
function useCreationAtOnce(state: KeyState | undefined, issuing: KeyIssuing): void {
  const client = useQueryClient()
  const navigate = useNavigate()
  const isAsked = useRouterState({ select: ({ location }) => location.state.createsKey === true })
  const [isWanted, setWanted] = useState(isAsked)
  useEffect(() => {
    if (!isWanted || state === undefined) return
    if (state.state === 'locked') {
      void client.invalidateQueries({ queryKey: keyQuery.queryKey })
      return
    }
    setWanted(false)
    void navigate({ to: paths.key, replace: true, state: {} })
    if (state.state === 'none' && state.pending === null) void issuing.create()
  }, [isWanted, state, navigate, issuing, client])
}

type BodyProps = {
  readonly state: KeyState
  readonly brand: Brand
  readonly stored: StoredKeys
  readonly issuing: KeyIssuing
}

function Body(props: BodyProps) {
  const { state, stored, issuing } = props
  const unfinished = stored.hasPending ? state.pending : null
  return (
    <>
      {unfinished !== null && <Unfinished keyId={unfinished.id} state={state} issuing={issuing} />}
      {state.state === 'locked' && <Locked />}
      {state.state === 'none' && unfinished === null && <NoKey issuing={issuing} />}
      {state.active !== null && <ActiveKey {...props} active={state.active} />}
    </>
  )
}

function Locked() {
  const { t } = useTranslation()
  return (
    <Panel>
      <Empty
        icon={Lock}
        title={t('key.locked')}
        text={t('key.lockedText')}
        action={
          <ButtonLink to={paths.packs} tone="main">
            {t('key.lockedAction')}
          </ButtonLink>
        }
      />
    </Panel>
  )
}

function NoKey({ issuing }: { readonly issuing: KeyIssuing }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const problem = issuing.error === undefined ? '' : errorText(issuing.error)
  return (
    <Panel>
      <Empty
        icon={KeyRound}
        title={t('key.none')}
        text={t('key.noneText')}
        action={
          <Button tone="main" isPending={issuing.isPending} onClick={() => void issuing.create()}>
            {t(issuing.isPending ? 'key.creating' : 'key.create')}
          </Button>
        }
      />
      <div role="alert" className="empty:hidden">
        {problem !== '' && <Banner tone="bad">{problem}</Banner>}
      </div>
    </Panel>
  )
}

function Unfinished(props: {
  readonly keyId: string
  readonly state: KeyState
  readonly issuing: KeyIssuing
}) {
  const { keyId, state, issuing } = props
  const { t } = useTranslation()
  const errorText = useErrorText()
  const text = [t('key.unfinishedText'), ...(state.active ? [t('key.unfinishedOld')] : [])]
  const problem = issuing.error === undefined ? '' : errorText(issuing.error)
  return (
    <>
      <Banner
        tone="warn"
        title={t('key.unfinished')}
        actions={
          <>
            <Button
              isSmall
              tone="main"
              isPending={issuing.isPending}
              onClick={() => void issuing.finish(keyId)}
            >
              {t('key.finish')}
            </Button>
            <Button isSmall disabled={issuing.isPending} onClick={() => void issuing.create()}>
              {t('key.restart')}
            </Button>
          </>
        }
      >
        {text.join(' ')}
      </Banner>
      <div role="alert" className="empty:hidden">
        {problem !== '' && <Banner tone="bad">{problem}</Banner>}
      </div>
    </>
  )
}

function ActiveKey(props: BodyProps & { readonly active: NonNullable<KeyState['active']> }) {
  const { state, brand, stored, issuing, active } = props
  const { t } = useTranslation()
  const { account } = useMe()
  const reveal = useReveal(account, active.id)
  const focusTarget = useFocusAfter(`${issuing.done} ${stored.hasActive}`)
  return (
    <>
      <div className="grid items-start gap-6 xl:grid-cols-2">
        <div className="grid min-w-0 gap-6 xl:only:col-span-2">
          <div role="status" className="empty:hidden">
            {issuing.done !== undefined && (
              <Banner tone="good" title={t(`key.${issuing.done}`)}>
                {t(`key.${issuing.done}Text`)}
              </Banner>
            )}
          </div>
          <div ref={focusTarget} tabIndex={-1} className="outline-none">
            {stored.hasActive ? (
              <KeyPanel active={active} brand={brand} reveal={reveal} />
            ) : (
              <AbsentKey state={state} brand={brand} isUnavailable={stored.isUnavailable} />
            )}
          </div>
          <FirstRequest keyCreatedAt={active.createdAt} />
        </div>
        {stored.hasActive && <TryPanel brand={brand} readKey={reveal.read} />}
      </div>
      <QuickStartPanel
        brand={brand}
        last4={active.last4}
        reveal={stored.hasActive ? reveal : undefined}
      />
      <KeyActions
        onReissue={issuing.create}
        isIssuing={issuing.isPending}
        issueError={issuing.error}
      />
    </>
  )
}

/**
 * Moves the focus to this panel when the one with the focused button has been replaced; otherwise
 * the next Tab would start at the top of the page.
 */
function useFocusAfter(trigger: string) {
  const target = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when `trigger` changes.
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (isLost) target.current?.focus({ preventScroll: true })
  }, [trigger])
  return target
}
