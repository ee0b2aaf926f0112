// The calculation of a charge: one line for each kind of token, for each additional pass and for
// each tool, the total, and what was not charged. On a phone each name is above its numbers: beside
// them, numbers of seven digits do not fit. The roles are explicit because some browsers stop
// treating a table as one when CSS displays it as blocks.
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { PriceListName } from '../../../../src/cabinet/contract/prices.ts'
import type { LogDetails, PricedUse, PriceLine } from '../../../../src/cabinet/contract/usage.ts'
import { millionthsOf } from '../../../format/decimal.ts'
import { capitalized, usePriceWords } from '../../../format/price-words.ts'
import { useFormat } from '../../../format/use-format.ts'
import { useRubles } from '../../../format/use-rubles.ts'
import { classes } from '../../../ui/classes.ts'

const roles = { table: 'table', group: 'rowgroup', row: 'row', head: 'rowheader', cell: 'cell' }
const groupClasses = 'max-sm:block'
const rowClasses = 'max-sm:grid max-sm:grid-cols-[1fr_auto]'

export function CostTable({ request }: { readonly request: LogDetails }) {
  const { t } = useTranslation()
  const format = useFormat()
  const title = useId()
  const { priced, writtenOff, credits, uses } = request
  const rubles = useRubles()(millionthsOf(credits.exact))
  const hasWrittenOff = /[1-9]/.test(writtenOff.exact)
  return (
    <div className="min-w-0">
      <h3 id={title} className="mb-2 text-base">
        {t('usage.one.formula')}
      </h3>
      <table
        role={roles.table}
        aria-labelledby={title}
        className="figures w-full max-w-lg border-collapse text-sm max-sm:block"
      >
        <TokenLines request={request} />
        {uses.length > 0 && <ToolLines uses={uses} />}
        <tbody role={roles.group} className={groupClasses}>
          <Total name={t('usage.one.sum')}>{format.decimal(priced.exact)}</Total>
          {hasWrittenOff && (
            <>
              <Total name={t('usage.one.writtenOff')} isSoft>
                −{format.decimal(writtenOff.exact)}
              </Total>
              <Total name={t('usage.one.charged')}>{format.decimal(credits.exact)}</Total>
            </>
          )}
          {rubles !== undefined && (
            <Total name={t('usage.one.rubles')} isSoft>
              {t('usage.one.about', { rubles })}
            </Total>
          )}
        </tbody>
      </table>
      <Notes request={request} hasWrittenOff={hasWrittenOff} />
    </div>
  )
}

/** The tokens of the response, then those of each pass; headings only where they say something. */
function TokenLines({ request }: { readonly request: LogDetails }) {
  const { t } = useTranslation()
  const { model, list, answeredBy, parts, passes, uses } = request
  const isPlain =
    list === null || (list.name === '' && answeredBy === null && passes.length + uses.length === 0)
  return (
    <>
      <tbody role={roles.group} className={groupClasses}>
        {!isPlain && (
          <Heading name={t('usage.one.response', { model: answeredBy ?? model })} list={list} />
        )}
        {parts.map((part) => (
          <CostLine key={part.kind} part={part} />
        ))}
      </tbody>
      {passes.map((pass, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: passes have no other identity.
        <tbody key={index} role={roles.group} className={groupClasses}>
          <Heading name={t('usage.one.pass', { model: pass.model })} list={pass.list} />
          {pass.parts.map((part) => (
            <CostLine key={part.kind} part={part} />
          ))}
        </tbody>
      ))}
    </>
  )
}

function ToolLines({ uses }: { readonly uses: readonly PricedUse[] }) {
  const { t } = useTranslation()
  const words = usePriceWords()
  return (
    <tbody role={roles.group} className={groupClasses}>
      <Heading name={t('usage.one.tools')} />
      {uses.map(({ feature, count, each, credits }) => (
        <Product
          key={feature}
          name={capitalized(words.tool(feature))}
          count={count}
          each={each}
          cost={credits.exact}
        />
      ))}
    </tbody>
  )
}

function Heading({ name, list }: { readonly name: string; readonly list?: PriceListName }) {
  const words = usePriceWords()
  return (
    <tr role={roles.row} className={groupClasses}>
      <th
        role={roles.head}
        scope="rowgroup"
        colSpan={3}
        className="pt-2 pb-1 text-start font-medium wrap-anywhere max-sm:block"
      >
        {name}
        {list !== undefined && list.name !== '' && (
          <span className="block font-normal text-soft">{capitalized(words.list(list))}</span>
        )}
      </th>
    </tr>
  )
}

function Notes(props: { readonly request: LogDetails; readonly hasWrittenOff: boolean }) {
  const { t } = useTranslation()
  const words = usePriceWords()
  const { answeredBy, unlisted } = props.request
  const names = unlisted.map(words.dimension).join(', ')
  const notes = [
    ...(answeredBy === null ? [] : [t('usage.one.answeredBy', { model: answeredBy })]),
    ...(unlisted.length === 0 ? [] : [t('usage.one.unlisted', { names })]),
    ...(props.hasWrittenOff ? [t('usage.one.writtenOffText')] : []),
  ]
  return notes.map((note) => (
    <p key={note} className="mt-2 text-sm text-soft wrap-anywhere">
      {note}
    </p>
  ))
}

function CostLine({ part }: { readonly part: PriceLine }) {
  const { t } = useTranslation()
  const { kind, tokens, weight, credits } = part
  const name = t(`usage.one.part.${kind}`)
  return <Product name={name} count={tokens} each={weight} cost={credits.exact} />
}

/** count × each = cost */
function Product(props: {
  readonly name: string
  readonly count: string
  readonly each: string
  readonly cost: string
}) {
  const format = useFormat()
  return (
    <tr role={roles.row} className={rowClasses}>
      <th
        role={roles.head}
        scope="row"
        className="py-1 pe-3 text-start font-normal max-sm:col-span-2 max-sm:pb-0 max-sm:text-soft"
      >
        {props.name}
      </th>
      <td role={roles.cell} className="py-1 max-sm:pt-0 sm:text-end sm:whitespace-nowrap">
        {format.whole(props.count)} × {format.decimal(props.each)} =
      </td>
      <td role={roles.cell} className="py-1 ps-2 text-end whitespace-nowrap max-sm:pt-0">
        {format.decimal(props.cost)}
      </td>
    </tr>
  )
}

function Total(props: {
  readonly name: string
  readonly children: ReactNode
  readonly isSoft?: boolean
}) {
  return (
    <tr
      role={roles.row}
      className={classes(
        rowClasses,
        props.isSoft === true ? 'text-soft' : 'border-t border-edge font-medium',
      )}
    >
      <th role={roles.head} scope="row" colSpan={2} className="py-1.5 text-start font-[inherit]">
        {props.name}
      </th>
      <td role={roles.cell} className="py-1.5 ps-2 text-end whitespace-nowrap">
        {props.children}
      </td>
    </tr>
  )
}
