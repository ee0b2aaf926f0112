// Try it: one message with the key of this browser, straight to the API. Shows the reply, what it
// cost, what is left, and the request in the log.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../../src/cabinet/contract/contract.ts'
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { homeQuery, pricesQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { SelectField, TextField } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import {
  cheapestModel,
  costMax,
  REPLY_TOKENS_MAX,
  sendTry,
  TEXT_LENGTH_MAX,
  type TryResult,
} from './try-request.ts'

type Sent = { readonly text: string; readonly model: string; readonly result: TryResult }

export function TryPanel(props: {
  readonly brand: Brand
  /** Reads the key from this browser's storage, without showing it. */
  readonly readKey: () => Promise<string>
}) {
  const { t } = useTranslation()
  const { data: prices } = useQuery(pricesQuery)
  const models = prices?.models ?? []
  const cheapest = cheapestModel(models)
  return (
    <Panel title={t('try.title')} hint={t('try.lead')}>
      {cheapest !== undefined && <TryForm {...props} models={models} cheapest={cheapest} />}
    </Panel>
  )
}

function TryForm(props: {
  readonly brand: Brand
  readonly readKey: () => Promise<string>
  readonly models: readonly ModelPrice[]
  readonly cheapest: ModelPrice
}) {
  const { brand, readKey, models, cheapest } = props
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const [text, setText] = useState(() => t('try.example'))
  const [chosen, setChosen] = useState<string>()
  const [isSending, setSending] = useState(false)
  const [sent, setSent] = useState<Sent>()
  const [problem, setProblem] = useState<string>()
  const model = models.find(({ id }) => id === chosen) ?? cheapest

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isSending || text.trim() === '') return
    setSending(true)
    setProblem(undefined)
    try {
      const result = await sendTry({ apiUrl: brand.apiUrl, model: model.id, text, readKey })
      setSent({ text, model: model.id, result })
    } catch {
      setProblem(t('key.closed'))
    } finally {
      setSending(false)
      void client.invalidateQueries({ queryKey: homeQuery.queryKey })
    }
  }

  return (
    <div className="grid gap-5">
      <form className="grid gap-4" onSubmit={(event) => void send(event)}>
        <TextField
          label={t('try.message')}
          value={text}
          onChange={setText}
          maxLength={TEXT_LENGTH_MAX}
          hint={t('try.costMax', {
            credits: format.whole(String(costMax(model, text))),
            tokens: REPLY_TOKENS_MAX,
          })}
        />
        <div className="flex flex-wrap items-end gap-4">
          <div className="min-w-0 flex-1 basis-60">
            <SelectField
              label={t('start.model')}
              value={model.id}
              onChange={setChosen}
              options={models.map(({ id, name }) => ({
                value: id,
                label: `${format.text(name)} (${id})`,
              }))}
            />
          </div>
          <Button type="submit" tone="main" icon={Send} isPending={isSending}>
            {t(isSending ? 'try.sending' : 'try.send')}
          </Button>
        </div>
      </form>
      <div role="status" className="grid gap-4 empty:hidden">
        {problem !== undefined && <Banner tone="bad">{problem}</Banner>}
        {sent !== undefined && <Answer sent={sent} />}
      </div>
    </div>
  )
}

function Answer({ sent: { text, model, result } }: { readonly sent: Sent }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  if (result.kind === 'problem') {
    return (
      <Banner tone="bad" title={t(`try.problem.${result.problem}`)}>
        {result.message !== '' && (
          <p lang="en" className="wrap-anywhere">
            {result.message}
          </p>
        )}
        <RequestLink id={result.requestId} />
      </Banner>
    )
  }
  const { charged, balance, isCut } = result
  const creditsOf = (exact: string) =>
    phrases.creditsExact({ whole: exact.split('.', 1)[0] ?? '0', exact })
  return (
    <div className="grid gap-4 rounded-box border border-line p-4">
      <div>
        <p className="text-sm text-soft">{t('try.you')}</p>
        <p className="whitespace-pre-wrap wrap-anywhere">{text}</p>
      </div>
      <div>
        <p className="text-sm text-soft">{model}</p>
        <p className="whitespace-pre-wrap wrap-anywhere">{result.text}</p>
        {isCut && <p className="mt-1 text-sm text-soft">{t('try.cut')}</p>}
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        <dt className="text-soft">{t('try.cost')}</dt>
        <dd>{charged === null ? '—' : creditsOf(charged)}</dd>
        <dt className="text-soft">{t('try.left')}</dt>
        <dd>{balance === null ? '—' : creditsOf(balance)}</dd>
        <dt className="text-soft">{t('try.request')}</dt>
        <dd>
          <RequestLink id={result.requestId} />
        </dd>
      </dl>
    </div>
  )
}

function RequestLink({ id }: { readonly id: string | null }) {
  if (id === null) return null
  return (
    <TextLink to={paths.usage} hash="log" className="break-all">
      {id}
    </TextLink>
  )
}
