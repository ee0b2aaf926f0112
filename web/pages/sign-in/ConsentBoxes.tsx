// An unticked box for each document that a new owner is asked to accept.
import { Trans, useTranslation } from 'react-i18next'
import type { DocumentLink } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { currentLanguage } from '../../runtime/language.ts'
import { CheckField } from '../../ui/form/Field.tsx'
import type { useForm } from '../../ui/form/use-form.ts'
import { TextLink } from '../../ui/TextLink.tsx'

export type ConsentValues = { [name: string]: string | boolean }

type Documents = readonly DocumentLink[]

export function ConsentBoxes(props: {
  readonly documents: Documents
  readonly box: ReturnType<typeof useForm<ConsentValues>>['box']
}) {
  const { t } = useTranslation()
  const { documents, box } = props
  if (documents.length === 0) return null
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-2 font-medium">{t('register.consents')}</legend>
      {documents.map((one) => (
        <CheckField key={one.document} {...box(boxOf(one))}>
          <ConsentSentence link={one} />
        </CheckField>
      ))}
    </fieldset>
  )
}

export function untickedBoxes(documents: Documents): ConsentValues {
  return Object.fromEntries(documents.map((one) => [boxOf(one), false]))
}

/** The problem for each required document that is not accepted. */
export function missingConsents(documents: Documents, values: ConsentValues, problem: string) {
  const missing = documents.filter((one) => one.isRequired && values[boxOf(one)] !== true)
  return Object.fromEntries(missing.map((one) => [boxOf(one), problem]))
}

export function tickedConsents(documents: Documents, values: ConsentValues) {
  return documents
    .filter((one) => values[boxOf(one)] === true)
    .map(({ document, version }) => ({ document, version }))
}

/** The document opens in a new tab, so that the values of the form are not lost. */
function ConsentSentence({ link }: { readonly link: DocumentLink }) {
  const { t } = useTranslation()
  const { document, isRequired } = link
  return (
    <>
      <Trans
        i18nKey="register.consent"
        values={{ title: link.title[currentLanguage()] }}
        components={{
          a: <TextLink to={paths.document} params={{ document }} target="_blank" />,
        }}
      />
      {!isRequired && <span className="text-soft"> ({t('field.optional')})</span>}
    </>
  )
}

function boxOf({ document }: DocumentLink): string {
  return `consent-${document}`
}
