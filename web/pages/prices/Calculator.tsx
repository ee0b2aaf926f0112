// The calculator: from the tokens of an average request and the requests a day to credits, roubles
// and the days that each pack lasts. Its numbers are in the address. A model with multipliers or
// tools has more fields; the length of the prompt chooses among its price lists by itself.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ModelPrice, Prices } from '../../../src/cabinet/contract/prices.ts'
import { dimensions, isTool, type Tool, tools } from '../../format/price-names.ts'
import { capitalized, usePriceWords } from '../../format/price-words.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { SelectField } from '../../ui/form/Field.tsx'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { Panel } from '../../ui/parts.tsx'
import { CalculatorResult } from './CalculatorResult.tsx'
import {
  type CalculatorSearch,
  type Choice,
  calculatorSearchOf,
  countOf,
  type Load,
  listFor,
  loadFields,
  requestCost,
  type Uses,
  usualLoad,
} from './estimate.ts'

type CountField = keyof Load | Tool
type Texts = Readonly<Record<CountField, string>>

export function Calculator({ prices }: { readonly prices: Prices }) {
  const { t } = useTranslation()
  const format = useFormat()
  const navigate = useNavigate()
  // The address follows: a select that waited for it would show its old value first.
  const [search, setSearch] = useState<CalculatorSearch>(useSearch({ from: '/site/prices' }))
  const [texts, setTexts] = useState<Texts>(() => textsOf(search))
  const model = prices.models.find(({ id }) => id === search.model) ?? prices.models[0]
  const load = loadOf(texts)
  // From what is there then: fields that a visitor filled before the scripts ran change at once.
  const updateSearch = (change: Record<string, unknown>) => {
    setSearch((before) => calculatorSearchOf({ ...before, ...change }))
    void navigate({
      to: paths.prices,
      search: (before) => calculatorSearchOf({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    })
  }
  const changeField = (field: CountField, text: string) => {
    setTexts((before) => ({ ...before, [field]: text }))
    const count = countOf(text)
    if (count !== undefined) updateSearch({ [field]: Number(count) })
  }
  if (model === undefined) return null
  const uses = usesOf(model, texts)
  return (
    <Panel title={t('prices.calculator.title')} hint={t('prices.calculator.hint')}>
      <div className="grid gap-6">
        <div className="grid items-end gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <SelectField
            label={t('prices.calculator.model')}
            value={model.id}
            onChange={(id) => updateSearch({ model: id })}
            options={prices.models.map(({ id, name }) => ({ value: id, label: format.text(name) }))}
          />
          {loadFields.map((field) => (
            <WholeField
              key={field}
              label={t(`prices.calculator.${field}`)}
              value={texts[field]}
              error={countOf(texts[field]) === undefined ? t('prices.calculator.wrong') : undefined}
              onChange={(text) => changeField(field, text)}
              className="figures"
            />
          ))}
          <ValueFields model={model} search={search} onChange={updateSearch} />
          <UseFields model={model} texts={texts} onChange={changeField} />
        </div>
        {load === undefined || uses === undefined ? (
          <p role="status" className="border-t border-line pt-5 text-soft">
            {t('prices.calculator.correct')}
          </p>
        ) : (
          <CalculatorResult
            perRequest={requestCost(model, load, search, uses)}
            requests={load.requests}
            packs={prices.packs}
            list={listFor(model, load, search)}
          />
        )}
      </div>
    </Panel>
  )
}

/** Speed, region and service tier, if the model has prices for them. */
function ValueFields(props: {
  readonly model: ModelPrice
  readonly search: CalculatorSearch
  readonly onChange: (change: Choice) => void
}) {
  const { model, search, onChange } = props
  const words = usePriceWords()
  return dimensions.map((name) => {
    const sold = words.multipliers(model, name)
    const chosen = sold.find(({ value }) => value === search[name])?.value ?? ''
    if (sold.length === 0) return null
    const options = [{ value: '', words: words.usual(name) }, ...sold]
    return (
      <SelectField
        key={name}
        label={capitalized(words.dimension(name))}
        value={chosen}
        onChange={(value) => onChange({ [name]: value === '' ? undefined : value })}
        options={options.map((one) => ({ value: one.value, label: capitalized(one.words) }))}
      />
    )
  })
}

/** How often a request uses each tool that has a price. */
function UseFields(props: {
  readonly model: ModelPrice
  readonly texts: Texts
  readonly onChange: (tool: Tool, text: string) => void
}) {
  const { model, texts, onChange } = props
  const { t } = useTranslation()
  const format = useFormat()
  const words = usePriceWords()
  return model.tools.map(({ feature, usesMax }) => {
    if (!isTool(feature)) return null
    const isWrong = countOf(texts[feature], BigInt(usesMax)) === undefined
    return (
      <WholeField
        key={feature}
        label={t('prices.calculator.uses', { tool: capitalized(words.tool(feature)) })}
        value={texts[feature]}
        error={
          isWrong ? t('prices.calculator.wrongUses', { max: format.whole(usesMax) }) : undefined
        }
        onChange={(text) => onChange(feature, text)}
        className="figures"
      />
    )
  })
}

function textsOf(search: CalculatorSearch): Texts {
  const initial: Partial<Record<CountField, bigint>> = usualLoad
  const text = (field: CountField) => String(search[field] ?? initial[field] ?? 0)
  const fields = [...loadFields, ...tools]
  return Object.fromEntries(fields.map((field) => [field, text(field)])) as Texts
}

/** Undefined if a field is invalid: a sum of the others would be wrong. */
function loadOf(texts: Texts): Load | undefined {
  const counts = loadFields.map((field) => [field, countOf(texts[field])] as const)
  return areValid(counts) ? (Object.fromEntries(counts) as Load) : undefined
}

function usesOf({ tools: priced }: ModelPrice, texts: Texts): Uses | undefined {
  const counts = priced.flatMap(({ feature, usesMax }) =>
    isTool(feature) ? [[feature, countOf(texts[feature], BigInt(usesMax))] as const] : [],
  )
  return areValid(counts) ? Object.fromEntries(counts) : undefined
}

function areValid(counts: readonly (readonly [string, bigint | undefined])[]): boolean {
  return counts.every(([, count]) => count !== undefined)
}
