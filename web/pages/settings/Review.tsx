// The review after a password reset: since which day the owner does not trust the account, and
// which of the passkeys and keys made since then are dropped.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ResetReview } from '../../../src/cabinet/contract/contract.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import {
  keyQuery,
  meQuery,
  passkeysQuery,
  reviewQuery,
  sessionsQuery,
} from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { CheckField, TextField } from '../../ui/form/Field.tsx'
import { Page } from '../../ui/Page.tsx'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { useToast } from '../../ui/Toasts.tsx'

/** What the page suggests: most owners notice within a month. */
const DAYS_SUGGESTED = 30
const DAY_MS = 86_400_000

export function Review() {
  const { t } = useTranslation()
  const query = useQuery(reviewQuery)
  return (
    <Page title={t('review.title')} isNarrow>
      <QueryView query={query} lines={3}>
        {(review) => (review.resetAt === null ? <Done /> : <Choose review={review} />)}
      </QueryView>
    </Page>
  )
}

function Done() {
  const { t } = useTranslation()
  return (
    <Banner
      tone="good"
      actions={
        <ButtonLink to={paths.security} isSmall>
          {t('settings.security')}
        </ButtonLink>
      }
    >
      {t('review.none')}
    </Banner>
  )
}

type Item = {
  readonly id: string
  readonly kind: 'passkey' | 'key'
  readonly title: string
  readonly createdAt: string
}

function useItems({ passkeys, keys }: ResetReview): readonly Item[] {
  const { t } = useTranslation()
  return [
    ...passkeys.map(({ id, name, createdAt }) => ({
      ...{ id, kind: 'passkey' as const, createdAt },
      title: t('review.passkey', { name: name === '' ? t('passkey.unnamed') : name }),
    })),
    ...keys.map(({ id, last4, createdAt }) => ({
      ...{ id, kind: 'key' as const, createdAt, title: t('review.key', { last4 }) },
    })),
  ]
}

function Choose({ review }: { readonly review: ResetReview }) {
  const { t } = useTranslation()
  const items = useItems(review)
  const [since, setSince] = useState(() => dayOf(Date.now() - DAYS_SUGGESTED * DAY_MS))
  /** What the owner has unticked: everything since the chosen day is dropped otherwise. */
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const made = items.filter(({ createdAt }) => dayOf(Date.parse(createdAt)) >= since)
  const dropped = made.filter(({ id }) => !kept.has(id))
  const keep = (id: string, isDropped: boolean) => {
    const next = new Set(kept)
    if (isDropped) next.delete(id)
    else next.add(id)
    setKept(next)
  }
  return (
    <Panel title={t('review.question')} hint={t('review.text')}>
      <div className="grid gap-6">
        <div className="max-w-60">
          <TextField
            type="date"
            label={t('review.since')}
            value={since}
            max={dayOf(Date.now())}
            onChange={setSince}
          />
        </div>
        {made.length === 0 ? (
          <p className="text-soft">{t('review.nothingSince')}</p>
        ) : (
          <fieldset className="grid gap-3">
            <legend className="mb-3 font-medium">{t('review.choose')}</legend>
            {made.map((item) => (
              <ItemField
                key={item.id}
                item={item}
                isDropped={!kept.has(item.id)}
                onChange={(isDropped) => keep(item.id, isDropped)}
              />
            ))}
          </fieldset>
        )}
        <Finish dropped={dropped} />
      </div>
    </Panel>
  )
}

function ItemField(props: {
  readonly item: Item
  readonly isDropped: boolean
  readonly onChange: (isDropped: boolean) => void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const { item, isDropped, onChange } = props
  return (
    <CheckField
      isChecked={isDropped}
      onChange={onChange}
      hint={t('review.made', { time: format.moment(item.createdAt) })}
    >
      {item.title}
    </CheckField>
  )
}

function Finish({ dropped }: { readonly dropped: readonly Item[] }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const router = useRouter()
  const toast = useToast()
  const withStepUp = useStepUp()
  const errorText = useErrorText()
  const ids = (kind: Item['kind']) =>
    dropped.filter((item) => item.kind === kind).map(({ id }) => id)
  const finish = useMutation({
    mutationFn: () =>
      withStepUp(() =>
        call('POST /api/reset-review', { body: { passkeys: ids('passkey'), keys: ids('key') } }),
      ),
    onSuccess: async (review) => {
      client.setQueryData(reviewQuery.queryKey, review)
      const changed = [meQuery, passkeysQuery, sessionsQuery, keyQuery]
      await Promise.all(changed.map(({ queryKey }) => client.invalidateQueries({ queryKey })))
      toast(t('review.done'))
      await router.navigate({ to: paths.home })
    },
  })
  const text = finish.isError ? errorText(finish.error) : ''
  return (
    <div className="grid justify-items-start gap-4">
      <div role="alert" className="empty:hidden">
        {text !== '' && <Banner tone="bad">{text}</Banner>}
      </div>
      <Button
        tone={dropped.length > 0 ? 'danger' : 'main'}
        isPending={finish.isPending}
        onClick={() => finish.mutate()}
      >
        {dropped.length > 0 ? t('review.drop', { count: dropped.length }) : t('review.keepAll')}
      </Button>
    </div>
  )
}

/** The day in the browser's own time zone, as a date field writes it. */
function dayOf(ms: number): string {
  const at = new Date(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}
