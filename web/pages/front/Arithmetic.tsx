// The arithmetic of one request, which the visitor can change: tokens times prices are credits, and
// credits at the price of a pack are roubles. The calculator and charges use the same arithmetic.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'
import { creditsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { paths } from '../../paths.ts'
import { SelectField } from '../../ui/form/Field.tsx'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { countOf, listFor, requestCost, usualLoad } from '../prices/estimate.ts'
import { Section } from './Section.tsx'

export function Arithmetic({ models }: { readonly models: readonly ModelPrice[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [id, setId] = useState(models[0]?.id ?? '')
  const [texts, setTexts] = useState({
    input: String(usualLoad.input),
    output: String(usualLoad.output),
  })
  const model = models.find((one) => one.id === id) ?? models[0]
  if (model === undefined) return null
  const input = countOf(texts.input)
  const output = countOf(texts.output)
  const field = (name: 'input' | 'output', count: bigint | undefined) => (
    <WholeField
      label={t(`prices.calculator.${name}`)}
      value={texts[name]}
      error={count === undefined ? t('prices.calculator.wrong') : undefined}
      onChange={(text) => setTexts((before) => ({ ...before, [name]: text }))}
      className="figures"
    />
  )
  return (
    <Section title={t('front.sum.title')} lead={t('front.sum.lead')}>
      <div className="grid min-w-0 gap-6 rounded-box border border-line bg-sheet p-5 sm:p-8">
        <div className="grid items-start gap-4 sm:grid-cols-3">
          <SelectField
            label={t('prices.calculator.model')}
            value={model.id}
            onChange={setId}
            options={models.map((one) => ({ value: one.id, label: format.text(one.name) }))}
          />
          {field('input', input)}
          {field('output', output)}
        </div>
        {input === undefined || output === undefined ? (
          <p role="status" className="text-soft">
            {t('prices.calculator.correct')}
          </p>
        ) : (
          <Sum model={model} input={input} output={output} />
        )}
      </div>
    </Section>
  )
}

function Sum(props: {
  readonly model: ModelPrice
  readonly input: bigint
  readonly output: bigint
}) {
  const { model, input, output } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const rate = useRate()
  const load = { input, output, cacheRead: 0n, cacheWrite: 0n }
  const cost = requestCost(model, load)
  const list = listFor(model, load)
  const term = (tokens: bigint, price: string, label: string) => (
    <span className="grid">
      <span className="figures font-serif text-2xl font-semibold sm:text-3xl">
        {format.whole(tokens)}
        <span className="text-accent"> × {format.decimal(price)}</span>
      </span>
      <span className="text-sm text-soft">{label}</span>
    </span>
  )
  return (
    <div className="grid gap-4 border-t border-line pt-6">
      <p aria-live="polite" className="flex flex-wrap items-start gap-x-4 gap-y-3">
        {term(input, list.input, t('front.sum.input'))}
        <span className="flex gap-4">
          <Sign text="+" />
          {term(output, list.output, t('front.sum.output'))}
        </span>
        <span className="flex gap-4">
          <Sign text="=" />
          <span className="grid">
            <span className="figures font-serif text-2xl font-semibold sm:text-3xl">
              {phrases.creditsExact(creditsOf(cost))}
            </span>
            {rate !== undefined && (
              <span className="figures text-sm text-soft">
                {t('credits.about', { rubles: format.rubles(rate.kopecks(cost)) })}
              </span>
            )}
          </span>
        </span>
      </p>
      <p className="text-sm text-soft">
        {rate !== undefined && `${t('prices.calculator.rate', { source: rate.source })} `}
        {t('front.sum.usage')} <TextLink to={paths.charging}>{t('front.sum.rules')}</TextLink>
      </p>
    </div>
  )
}

function Sign({ text }: { readonly text: string }) {
  return <span className="font-serif text-2xl text-soft sm:text-3xl">{text}</span>
}
