// The key: why there is none yet, creating it, showing and copying it, what to do when it is lost
// or stolen, and how to use it. Its value comes from this browser alone.
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Lock } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand, KeyState } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { brandAsk, keyAsk } from '../../runtime/asks.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { useMe } from '../../runtime/session.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty, Panel, Skeleton } from '../../ui/parts.tsx'
import { AbsentKey } from './AbsentKey.tsx'
import { FirstRequest } from './FirstRequest.tsx'
import { type Issuing, useIssuing } from './issuing.ts'
import { KeyActions } from './KeyActions.tsx'
import { KeyPanel } from './KeyPanel.tsx'
import { type Keeping, useKeeping, useReveal } from './kept.ts'
import { QuickStart } from './QuickStart.tsx'
import { UnkeptDialog } from './UnkeptDialog.tsx'

export function Key() {
  const { t } = useTranslation()
  const { account } = useMe()
  const { data: brand } = useQuery(brandAsk)
  const query = useQuery(keyAsk)
  const keeping = useKeeping(account, query.data)
  const issuing = useIssuing(query.data)
  return (
    <Page isNarrow title={t('key.title')} lead={t('key.lead')}>
      <Asked query={query}>
        {(state) =>
          brand === undefined || keeping === undefined ? (
            <Skeleton />
          ) : (
            <Body state={state} brand={brand} keeping={keeping} issuing={issuing} />
          )
        }
      </Asked>
      <UnkeptDialog issuing={issuing} />
    </Page>
  )
}

type Parts = {
  readonly state: KeyState
  readonly brand: Brand
  readonly keeping: Keeping
  readonly issuing: Issuing
}

function Body(parts: Parts) {
  const { state, keeping, issuing } = parts
  const unfinished = keeping.hasPending ? state.pending : null
  return (
    <>
      {unfinished !== null && <Unfinished keyId={unfinished.id} state={state} issuing={issuing} />}
      {state.state === 'locked' && <Locked />}
      {state.state === 'none' && unfinished === null && <NoKey issuing={issuing} />}
      {state.active !== null && <InForce {...parts} active={state.active} />}
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

function NoKey({ issuing }: { readonly issuing: Issuing }) {
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
  readonly issuing: Issuing
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

function InForce(props: Parts & { readonly active: NonNullable<KeyState['active']> }) {
  const { state, brand, keeping, issuing, active } = props
  const { t } = useTranslation()
  const { account } = useMe()
  const reveal = useReveal(account, active.id)
  const place = useFocusWhen(`${issuing.done} ${keeping.hasActive}`)
  return (
    <>
      <div role="status" className="empty:hidden">
        {issuing.done !== undefined && (
          <Banner tone="good" title={t(`key.${issuing.done}`)}>
            {t(`key.${issuing.done}Text`)}
          </Banner>
        )}
      </div>
      <div ref={place} tabIndex={-1} className="outline-none">
        {keeping.hasActive ? (
          <KeyPanel active={active} brand={brand} reveal={reveal} />
        ) : (
          <AbsentKey state={state} brand={brand} isClosed={keeping.isClosed} />
        )}
      </div>
      <FirstRequest />
      <QuickStart
        brand={brand}
        last4={active.last4}
        reveal={keeping.hasActive ? reveal : undefined}
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
 * The button that made or stored the key is gone with the panel it was on; without a new place the
 * focus would fall to the top of the page.
 */
function useFocusWhen(reason: string) {
  const place = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new reason is when to look.
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (isLost) place.current?.focus({ preventScroll: true })
  }, [reason])
  return place
}
