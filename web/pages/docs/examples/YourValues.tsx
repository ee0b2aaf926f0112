// Says which values the examples of this page have, and lets the reader choose the model.
import { useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import { useFormat } from '../../../format/use-format.ts'
import { paths } from '../../../paths.ts'
import { meQuery, pricesQuery } from '../../../runtime/queries.ts'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { SelectField } from '../../../ui/form/Field.tsx'
import { TextLink } from '../../../ui/TextLink.tsx'
import { maskedKey } from '../../key/KeyPanel.tsx'
import { ShowKey } from './Example.tsx'
import { useExamples } from './Examples.tsx'
import { fillExample } from './fill.ts'

/** `sample`: the model that the examples of the page name. */
export function YourValues({ sample }: { readonly sample: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: prices } = useQuery(pricesQuery)
  const examples = useExamples()
  if (examples === undefined) return null
  const { shown, chooseModel } = examples
  const models = prices?.models ?? []
  return (
    <section
      aria-label={t('docs.values')}
      className="grid gap-4 rounded-box border border-line bg-sheet p-4 sm:grid-cols-2 sm:p-5"
    >
      <div className="grid content-start gap-1.5">
        <p className="font-medium">{t('start.base')}</p>
        <Value copied={shown.apiUrl}>{shown.apiUrl}</Value>
      </div>
      {models.length > 0 && (
        <SelectField
          label={t('start.model')}
          value={fillExample(sample, shown)}
          onChange={chooseModel}
          options={models.map(({ id, name }) => ({
            value: id,
            label: `${format.text(name)} (${id})`,
          }))}
        />
      )}
      <div className="grid gap-1.5 sm:col-span-2">
        <p className="font-medium">{t('docs.key')}</p>
        <KeyLine />
      </div>
    </section>
  )
}

function KeyLine() {
  const { t } = useTranslation()
  const { data: me } = useQuery(meQuery)
  const examples = useExamples()
  if (examples?.own !== undefined) {
    const { own, brand } = examples
    return (
      <Value copied={own.read} controls={<ShowKey />}>
        {own.plain ?? (
          <>
            <span aria-hidden>{maskedKey(brand.vendorSlug, own.last4)}</span>
            <span className="sr-only">{t('key.masked', { last4: own.last4 })}</span>
          </>
        )}
      </Value>
    )
  }
  return (
    <p className="text-sm text-soft">
      <Trans
        i18nKey={me != null ? 'docs.keyElsewhere' : 'docs.keyOfGuest'}
        components={{
          a: <TextLink to={me != null ? paths.key : paths.signIn} />,
          b: <TextLink to={paths.register} />,
        }}
      />
    </p>
  )
}

function Value(props: {
  readonly copied: string | (() => Promise<string>)
  readonly controls?: React.ReactNode
  readonly children: React.ReactNode
}) {
  return (
    <div
      className="flex min-h-11 items-center gap-x-2 rounded-part border border-line bg-sunk
        py-0.5 ps-3 pe-1"
    >
      <code translate="no" className="me-auto min-w-0 py-1.5 text-sm break-all">
        {props.children}
      </code>
      <span className="ms-auto flex flex-wrap items-center justify-end">
        {props.controls}
        <CopyButton value={props.copied} tone="quiet" isBare />
      </span>
    </div>
  )
}
