// One request, opened: how it ended, tokens times weight line by line down to the charge, and what
// support would ask for.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import type { LoggedRequest, PricedPart } from '../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../format/format.ts'
import { brandAsk, loggedAsk } from '../../runtime/asks.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Credits } from '../../ui/amounts.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { classes } from '../../ui/classes.ts'
import { Facts } from '../../ui/parts.tsx'
import { TextAnchor } from '../../ui/TextLink.tsx'
import { statusIn } from './endings.ts'

export function Arithmetic({ id, box }: { readonly id: string; readonly box: string }) {
  return (
    <div id={box} className="rounded-box border border-line bg-sunk p-4 sm:p-5">
      <Asked query={useQuery(loggedAsk(id))} lines={4}>
        {(request) => <Opened request={request} />}
      </Asked>
    </div>
  )
}

function Opened({ request }: { readonly request: LoggedRequest }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandAsk)
  const { ending, reason, parts, isEstimated } = request
  const status = statusIn(reason)
  const email = brand?.supportEmail ?? ''
  return (
    <div className="grid gap-5 lg:grid-cols-2 lg:gap-8">
      <div className="grid min-w-0 content-start gap-4">
        <p>
          {t(`usage.endingText.${ending}`)}
          {status !== undefined && ` ${t('usage.one.status', { status })}`}
        </p>
        {parts.length > 0 && <Sum request={request} />}
        {isEstimated && <p className="text-sm text-soft">{t('usage.one.estimated')}</p>}
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <RequestFacts request={request} />
        <p className="text-sm text-soft">
          <Trans
            i18nKey="usage.one.support"
            values={{ email }}
            components={{ a: <TextAnchor href={`mailto:${email}?subject=${request.id}`} /> }}
          />
        </p>
      </div>
    </div>
  )
}

function RequestFacts({ request }: { readonly request: LoggedRequest }) {
  const { t } = useTranslation()
  const { id, reason, balanceAfter, catalogueVersion, messageId } = request
  const code = (text: string) => (
    <code translate="no" className="text-sm break-all">
      {text}
    </code>
  )
  return (
    <>
      <Facts
        facts={[
          { name: t('usage.one.balanceAfter'), value: <Credits value={balanceAfter} /> },
          ...(catalogueVersion === null
            ? []
            : [{ name: t('usage.one.catalogue'), value: catalogueVersion }]),
          { name: t('usage.one.request'), value: code(id) },
          ...(messageId === null ? [] : [{ name: t('usage.one.message'), value: code(messageId) }]),
          ...(reason === null ? [] : [{ name: t('usage.one.reason'), value: code(reason) }]),
        ]}
      />
      <div>
        <CopyButton value={id} label={t('usage.one.copyRequest')} />
      </div>
    </>
  )
}

/** The formula, one line for each kind of token, and the sum below a line as on paper. */
function Sum({ request }: { readonly request: LoggedRequest }) {
  const { t } = useTranslation()
  const format = useFormat()
  const title = useId()
  const { parts, priced, writtenOff, credits } = request
  const hasWrittenOff = /[1-9]/.test(writtenOff.exact)
  return (
    <div className="min-w-0">
      <h3 id={title} className="mb-2 text-base">
        {t('usage.one.formula')}
      </h3>
      <table aria-labelledby={title} className="figures w-full max-w-lg border-collapse text-sm">
        <tbody>
          {parts.map((part) => (
            <Part key={part.kind} part={part} />
          ))}
          <Total name={t('usage.one.sum')}>{format.decimal(priced.exact)}</Total>
          {hasWrittenOff && (
            <>
              <Total name={t('usage.one.writtenOff')} isSoft>
                −{format.decimal(writtenOff.exact)}
              </Total>
              <Total name={t('usage.one.charged')}>{format.decimal(credits.exact)}</Total>
            </>
          )}
        </tbody>
      </table>
      {hasWrittenOff && <p className="mt-2 text-sm text-soft">{t('usage.one.writtenOffText')}</p>}
    </div>
  )
}

function Part({ part }: { readonly part: PricedPart }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <tr>
      <th scope="row" className="py-1 pe-3 text-start font-normal">
        {t(`usage.one.part.${part.kind}`)}
      </th>
      <td className="py-1 text-end whitespace-nowrap">
        {format.whole(part.tokens)} × {format.decimal(part.weight)} =
      </td>
      <td className="py-1 ps-2 text-end whitespace-nowrap">{format.decimal(part.credits.exact)}</td>
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
      className={classes(props.isSoft === true ? 'text-soft' : 'border-t border-edge font-medium')}
    >
      <th scope="row" colSpan={2} className="py-1.5 text-start font-[inherit]">
        {props.name}
      </th>
      <td className="py-1.5 ps-2 text-end whitespace-nowrap">{props.children}</td>
    </tr>
  )
}
