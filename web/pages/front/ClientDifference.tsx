// What changes in a program that already works with the official API: the lines with the address
// and the key.
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { classes } from '../../ui/classes.ts'
import { TextLink } from '../../ui/TextLink.tsx'
import { firstDocsPage } from '../docs/pages.ts'
import { type Snippet, snippets } from '../key/snippets.ts'
import { type DifferenceLine, differenceOf } from './difference.ts'

const clients = ['curl', 'typescript', 'python', 'claudeCode'] as const

/** The panel of the client that is chosen. In CSS, so that visitors without scripts can choose. */
const panelClasses = {
  curl: 'hidden group-has-[[value=curl]:checked]/clients:block',
  typescript: 'hidden group-has-[[value=typescript]:checked]/clients:block',
  python: 'hidden group-has-[[value=python]:checked]/clients:block',
  claudeCode: 'hidden group-has-[[value=claudeCode]:checked]/clients:block',
} as const satisfies Record<(typeof clients)[number], string>

const signs = { same: ' ', removed: '−', added: '+' } as const
const lineClasses: Readonly<Record<DifferenceLine['kind'], string>> = {
  same: 'text-soft',
  removed: 'bg-bad-tint text-bad',
  added: 'bg-tint text-accent-deep',
}

export function ClientDifference({ brand, model }: { readonly brand: Brand; model: string }) {
  const { t } = useTranslation()
  const now = { base: brand.apiUrl, key: `sk-${brand.vendorSlug}-api03-…`, model }
  const before = {
    base: `https://${t('front.difference.address')}`,
    key: t('front.difference.key'),
    model,
  }
  return (
    <div className="min-w-0 overflow-hidden rounded-box border border-line bg-sheet shadow-sm">
      <div aria-hidden className="barrier h-2" />
      <div className="grid grid-cols-1 gap-4 p-4 sm:p-6">
        <h2 className="text-xl sm:text-2xl">{t('front.difference.title')}</h2>
        <fieldset className="group/clients grid min-w-0 grid-cols-1 gap-4">
          <legend className="sr-only">{t('front.difference.clients')}</legend>
          <div className="flex flex-wrap gap-1.5">
            {clients.map((id, at) => (
              <label
                key={id}
                className="flex min-h-10 cursor-pointer items-center rounded-part border
                  border-line px-2 text-sm font-medium sm:px-3 text-soft hover:text-ink
                  has-checked:border-accent has-checked:bg-tint has-checked:text-accent-deep
                  has-focus-visible:outline-2 has-focus-visible:outline-offset-2
                  has-focus-visible:outline-accent"
              >
                <input
                  type="radio"
                  name="client"
                  value={id}
                  defaultChecked={at === 0}
                  className="sr-only"
                />
                {t(`front.client.${id}`)}
              </label>
            ))}
          </div>
          {clients.map((id) => (
            <div key={id} className={panelClasses[id]}>
              <Difference id={id} lines={linesOf(id, { before, now })} />
            </div>
          ))}
        </fieldset>
        <p className="text-sm text-soft">
          <TextLink to={paths.docs} params={{ page: firstDocsPage }}>
            {t('front.difference.more')}
          </TextLink>
        </p>
      </div>
    </div>
  )
}

type Fills = Parameters<typeof differenceOf>[1]

function linesOf(id: Snippet['id'], fills: Fills): readonly DifferenceLine[] {
  const snippet = snippets.find((one) => one.id === id)
  return snippet === undefined ? [] : differenceOf(snippet.text, fills)
}

function Difference(props: {
  readonly id: (typeof clients)[number]
  readonly lines: readonly DifferenceLine[]
}) {
  const { t } = useTranslation()
  return (
    <section
      aria-label={t('front.difference.example', { client: t(`front.client.${props.id}`) })}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable.
      tabIndex={0}
      translate="no"
      className="h-84 overflow-auto rounded-part bg-sunk py-3 font-mono text-[0.8125rem]
        leading-6"
    >
      <div className="w-max min-w-full">
        {props.lines.map(({ kind, text }, at) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: lines repeat, and they never move.
            key={`${at} ${text}`}
            className={classes('flex min-h-6 gap-3 px-4 whitespace-pre', lineClasses[kind])}
          >
            <span aria-hidden className="w-2 shrink-0 select-none">
              {signs[kind]}
            </span>
            {kind !== 'same' && <span className="sr-only">{t(`front.difference.${kind}`)} </span>}
            <code>{text}</code>
          </div>
        ))}
      </div>
    </section>
  )
}
