// Quick start: the base URL, a model, and an example for each client with both filled in. The
// browser inserts the key; it stays masked until the owner shows it.
import { useQuery } from '@tanstack/react-query'
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../../src/cabinet/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { NARROW, useMedia } from '../../runtime/media.ts'
import { pricesQuery } from '../../runtime/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { SelectField } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/parts.tsx'
import { type Tab, Tabs } from '../../ui/Tabs.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { maskedKey } from './KeyPanel.tsx'
import { type Snippet, snippets } from './snippets.ts'
import type { Reveal } from './stored-keys.ts'

const PLACEHOLDER = 'YOUR_API_KEY'

export function QuickStartPanel(props: {
  readonly brand: Brand
  readonly last4: string
  /** Undefined: this browser does not have the key. */
  readonly reveal: Reveal | undefined
}) {
  const { brand, last4, reveal } = props
  const { t } = useTranslation()
  const format = useFormat()
  const { data: prices } = useQuery(pricesQuery)
  const [chosenModel, setChosenModel] = useState<string>()
  const models = prices?.models ?? []
  const model = chosenModel ?? models[0]?.id ?? 'MODEL'
  return (
    <Panel title={t('start.title')} hint={t('start.lead')}>
      <div className="grid gap-5">
        <div className="grid gap-4 sm:grid-cols-[3fr_2fr]">
          <div className="grid content-start gap-1.5">
            <p className="font-medium">{t('start.base')}</p>
            <div
              className="flex min-h-11 flex-wrap items-center justify-between gap-x-2 rounded-part
                border border-line bg-sunk py-0.5 ps-3 pe-1"
            >
              <code translate="no" className="min-w-0 py-1.5 text-sm break-all">
                {brand.apiUrl}
              </code>
              {/* At the end also below the address, when both do not fit side by side. */}
              <span className="ms-auto">
                <CopyButton value={brand.apiUrl} tone="quiet" />
              </span>
            </div>
          </div>
          {models.length > 0 && (
            <SelectField
              label={t('start.model')}
              value={model}
              onChange={setChosenModel}
              options={models.map(({ id, name }) => ({
                value: id,
                label: `${format.text(name)} (${id})`,
              }))}
            />
          )}
        </div>
        <Clients
          tabs={snippets.map((snippet) => ({
            id: snippet.id,
            label: t(`start.tabs.${snippet.id}`),
            content: (
              <Example
                snippet={snippet}
                base={brand.apiUrl}
                model={model}
                masked={maskedKey(brand.vendorSlug, last4)}
                reveal={reveal}
              />
            ),
          }))}
        />
      </div>
    </Panel>
  )
}

/** A phone has no room for eight tabs; there they are a list. */
function Clients({ tabs }: { readonly tabs: readonly Tab[] }) {
  const { t } = useTranslation()
  const isNarrow = useMedia(NARROW)
  const [chosen, setChosen] = useState<string>(tabs[0]?.id ?? '')
  if (!isNarrow) {
    return <Tabs label={t('start.clients')} tabs={tabs} value={chosen} onChange={setChosen} />
  }
  return (
    <>
      <SelectField
        label={t('start.clients')}
        value={chosen}
        onChange={setChosen}
        options={tabs.map(({ id, label }) => ({ value: id, label }))}
      />
      {tabs.find(({ id }) => id === chosen)?.content}
    </>
  )
}

function Example(props: {
  readonly snippet: Snippet
  readonly base: string
  readonly model: string
  readonly masked: string
  readonly reveal: Reveal | undefined
}) {
  const { snippet, base, model, masked, reveal } = props
  const { t } = useTranslation()
  const toast = useToast()
  const isShown = reveal?.plain !== undefined
  const shownKey = reveal === undefined ? PLACEHOLDER : (reveal.plain ?? masked)
  const name = t(`start.tabs.${snippet.id}`)
  const filledText = async () =>
    snippet.text({ base, model, key: reveal === undefined ? PLACEHOLDER : await reveal.read() })
  const toggle = () =>
    isShown ? reveal?.hide() : void reveal?.show().catch(() => toast(t('key.gone'), 'bad'))
  return (
    <div className="grid gap-3">
      <p className="max-w-prose text-sm text-soft">{t(`start.note.${snippet.id}`)}</p>
      {/* Long lines scroll, so the box takes the focus for keyboard users. */}
      <section
        aria-label={t('start.code', { name })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see the line above.
        tabIndex={0}
        className="overflow-x-auto rounded-part border border-line bg-sunk p-4"
      >
        <pre translate="no" className="text-sm">
          <code>{snippet.text({ base, model, key: shownKey })}</code>
        </pre>
      </section>
      <div className="flex flex-wrap items-center gap-2">
        <CopyButton
          value={filledText}
          label={t(reveal === undefined ? 'start.copyPlain' : 'start.copy')}
          tone="main"
        />
        {reveal !== undefined && (
          <Button isSmall icon={isShown ? EyeOff : Eye} onClick={toggle}>
            {t(isShown ? 'start.withoutKey' : 'start.withKey')}
          </Button>
        )}
        {reveal === undefined && (
          <p className="text-sm text-soft">{t('start.noKey', { placeholder: PLACEHOLDER })}</p>
        )}
      </div>
      {(snippet.id === 'claudeCode' || snippet.id === 'agents') && (
        <p className="text-sm text-soft">{t('start.windows')}</p>
      )}
    </div>
  )
}
