// The fields of the form of prices: models, packs, and any other change as text.
import { useTranslation } from 'react-i18next'
import type { Catalogue } from '../../../src/operator/console/contract/catalogue.ts'
import { useFormat } from '../../format/use-format.ts'
import { controlClasses, Field, TextField } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/parts.tsx'
import { fieldOf } from './fields.ts'
import { kinds } from './Models.tsx'

type FieldsProps = {
  readonly catalogue: Catalogue
  readonly text: (name: string) => {
    readonly name: string
    readonly value: string
    readonly error: string | undefined
    readonly onChange: (value: string) => void
  }
}

export function ModelFields({ catalogue, text }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.catalogue.models')} hint={t('console.catalogue.modelsHint')}>
      <div className="grid gap-6">
        {catalogue.models.map(({ id }) => (
          <fieldset key={id} className="min-w-0">
            <legend className="mb-2 font-mono text-sm font-medium wrap-anywhere">{id}</legend>
            <div className="grid grid-cols-2 items-end gap-4 sm:grid-cols-3 lg:grid-cols-5">
              {kinds.map((kind) => (
                <TextField
                  key={kind}
                  {...text(fieldOf('models', id, kind))}
                  label={t(`console.catalogue.kind.${kind}`)}
                  inputMode="decimal"
                />
              ))}
            </div>
          </fieldset>
        ))}
      </div>
    </Panel>
  )
}

export function PackFields({ catalogue, text }: FieldsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Panel title={t('console.catalogue.packs')}>
      <div className="grid gap-6">
        {catalogue.packs.map(({ id, name }) => (
          <fieldset key={id} className="min-w-0">
            <legend className="mb-2 font-medium">
              {format.text(name)} <span className="font-mono text-sm text-soft">{id}</span>
            </legend>
            <div className="grid grid-cols-2 items-end gap-4 lg:grid-cols-4">
              <TextField
                {...text(fieldOf('packs', id, 'credits'))}
                label={t('console.catalogueEdit.credits')}
                inputMode="numeric"
              />
              <TextField
                {...text(fieldOf('packs', id, 'priceKopecks'))}
                label={t('console.catalogueEdit.rubles')}
                inputMode="decimal"
              />
            </div>
          </fieldset>
        ))}
      </div>
    </Panel>
  )
}

export function MoreField(props: ReturnType<FieldsProps['text']>) {
  const { t } = useTranslation()
  const { name, value, error, onChange } = props
  return (
    <Field
      label={t('console.catalogueEdit.more')}
      hint={t('console.catalogueEdit.moreHint')}
      error={error}
      isOptional
    >
      {(attributes) => (
        <textarea
          {...attributes}
          {...{ name, value }}
          rows={3}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
          className={`${controlClasses} font-mono text-sm`}
        />
      )}
    </Field>
  )
}
