// The active key, when this browser has it: masked, shown for a while, copied, saved as a file.
import { Download, Eye, EyeOff } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Brand, KeyState } from '../../../src/cabinet/contract/contract.ts'
import { saveFile } from '../../runtime/save-file.ts'
import { useTick } from '../../runtime/tick.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Facts, Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { envFile } from './snippets.ts'
import { REVEAL_SECONDS, type Reveal } from './stored-keys.ts'

/** Not `.env`: browsers drop the leading dot and save another name, such as `env.txt`. */
const ENV_FILE = 'secret.env'

type Active = NonNullable<KeyState['active']>

export function KeyPanel(props: {
  readonly active: Active
  readonly brand: Brand
  readonly reveal: Reveal
}) {
  const { active, brand, reveal } = props
  const { t } = useTranslation()
  const toast = useToast()
  const isShown = reveal.plain !== undefined
  const showGone = () => toast(t('key.gone'), 'bad')
  const toggle = () => (isShown ? reveal.hide() : void reveal.show().catch(showGone))
  const download = async () => {
    saveFile(ENV_FILE, envFile({ base: brand.apiUrl, key: await reveal.read() }))
    toast(t('key.downloaded', { file: ENV_FILE }))
  }
  return (
    <Panel title={t('key.value')}>
      <div className="grid gap-5">
        <KeyValue slug={brand.vendorSlug} last4={active.last4} plain={reveal.plain} />
        <div className="grid gap-2 sm:flex sm:flex-wrap sm:items-center">
          <Button icon={isShown ? EyeOff : Eye} onClick={toggle}>
            {t(isShown ? 'key.hide' : 'key.show')}
          </Button>
          <CopyButton value={reveal.read} label={t('key.copy')} tone="main" isSmall={false} />
          <Button icon={Download} tone="quiet" onClick={() => void download().catch(showGone)}>
            {t('key.download', { file: ENV_FILE })}
          </Button>
          {isShown && (
            <p aria-hidden className="figures text-sm text-soft">
              {t('key.shown', { count: reveal.secondsLeft })}
            </p>
          )}
        </div>
        {/* Announced once, while the visible seconds above count down. */}
        <p role="status" className="sr-only">
          {isShown && t('key.shown', { count: REVEAL_SECONDS })}
          {!isShown && reveal.wasShown && t('key.hiddenAgain')}
        </p>
        <KeyFacts active={active} />
        <Banner tone="warn" title={t('key.warning')}>
          {t('key.warningText')}
        </Banner>
      </div>
    </Panel>
  )
}

export function KeyFacts({ active }: { readonly active: Active }) {
  const { t } = useTranslation()
  useTick()
  const { createdAt, lastUsedAt } = active
  return (
    <Facts
      facts={[
        { name: t('key.createdAt'), value: <Moment at={createdAt} /> },
        {
          name: t('key.lastUsedAt'),
          value: lastUsedAt === null ? t('key.neverUsed') : <Moment at={lastUsedAt} isAgo />,
        },
      ]}
    />
  )
}

/** The plain value is in the document only while it is shown. */
export function KeyValue(props: {
  readonly slug: string
  readonly last4: string
  readonly plain: string | undefined
}) {
  const { slug, last4, plain } = props
  const { t } = useTranslation()
  return (
    <p
      translate="no"
      className="rounded-part border border-line bg-sunk px-4 py-3 font-mono break-all select-all
        max-sm:text-sm"
    >
      {plain ?? (
        <>
          <span aria-hidden>{maskedKey(slug, last4)}</span>
          <span className="sr-only">{t('key.masked', { last4 })}</span>
        </>
      )}
    </p>
  )
}

export function maskedKey(slug: string, last4: string): string {
  return `sk-${slug}-api03-${'•'.repeat(8)}${last4}`
}
